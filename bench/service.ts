/**
 * The service as its users meet it: through the port of a server that was started as they start it, beside others that
 * do the same job, in turns within one run. `npm run bench -- --help` says how it is used.
 */
import { makeDataFolder } from "./data-folder.ts";
import { measureCached } from "./service/cached.ts";
import { type BenchEngine, nativeEngine, wasmEngine } from "./service/engine.ts";
import { type Flat, measureFlat } from "./service/flat.ts";
import { flatTable } from "./service/flat-table.ts";
import { measureSweep, type Sweep } from "./service/growth.ts";
import { sweepTable } from "./service/growth-tables.ts";
import { describeMachine } from "./service/machine.ts";
import { type BenchOptions, readOptions, usage } from "./service/options.ts";
import { createQuestionBook } from "./service/questions.ts";
import { keepResults } from "./service/results.ts";
import { headingOf, rowTable } from "./service/row-tables.ts";
import { measureRows, type Row } from "./service/rows.ts";
import { measureStored } from "./service/stored.ts";
import { lackOfWrk } from "./service/wrk.ts";

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(usage);
  process.exit();
}
const options = optionsOrExit();
const lack = await lackOfWrk();
if (lack !== undefined) {
  exit(lack);
}
const engines = await Promise.all(
  options.paths.map((path): Promise<BenchEngine> => (path === "native" ? nativeEngine() : wasmEngine())),
);
const [firstEngine] = engines;
if (firstEngine === undefined) {
  exit("no path to an engine is named");
}
const folder = makeDataFolder();
const book = createQuestionBook(folder);
const machine = describeMachine(args, engines, options.python);
const { slots, python } = options;
const settings = { engine: firstEngine, slots, python, folder };

if (options.kinds.length > 0) {
  const rows: Row[] = [];
  const onRow = (row: Row) => {
    rows.push(row);
    console.log(`\n${headingOf(row)}\n\n${rowTable(row)}`);
    keepResults(options.out, "rows", { machine, rows });
  };
  for (const engine of options.kinds.some((kind) => kind === "new" || kind === "repeated") ? engines : []) {
    await measureRows(engine, options, book, { ...settings, engine }, onRow);
  }
  if (options.kinds.includes("cached")) {
    await measureCached(options, settings, onRow);
  }
  if (options.kinds.includes("stored")) {
    await measureStored(options, settings, book, onRow);
  }
}

if (options.flatMinutes !== undefined) {
  const flats: Flat[] = [];
  for (const depth of options.depths) {
    for (const callers of options.callers) {
      const flat = await measureFlat(
        settings,
        { depth, callers, minutes: options.flatMinutes },
        ({ minute }) => process.stderr.write(`\rminute ${minute.toFixed(1)} `),
      );
      flats.push(flat);
      console.log(`\n${flatTable(flat)}`);
      keepResults(options.out, "flat", { machine, flats });
    }
  }
}

if (options.growth) {
  const sweeps: Sweep[] = [];
  for (const name of options.sweeps) {
    const sweep = await measureSweep(name, settings, options, book);
    sweeps.push(sweep);
    console.log(`\n${sweepTable(sweep)}`);
    keepResults(options.out, "growth", { machine, slots, sweeps });
  }
}

console.log(`\nThe results are in ${options.out}.`);

function optionsOrExit(): BenchOptions {
  try {
    return readOptions(args);
  } catch (error) {
    return exit(error instanceof Error ? error.message : String(error));
  }
}

function exit(reason: string): never {
  console.error(reason);
  process.exit(1);
}
