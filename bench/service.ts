/**
 * The service as its users meet it: through the port of a server that was started as they start it, beside others that
 * do the same job, in turns within one run. `npm run bench -- --help` says how it is used.
 */
import { makeDataFolder } from "./data-folder.ts";
import { type BenchEngine, nativeEngine, wasmEngine } from "./service/engine.ts";
import { describeMachine } from "./service/machine.ts";
import { type BenchOptions, readOptions } from "./service/options.ts";
import { createQuestionBook } from "./service/questions.ts";
import { keepResults } from "./service/results.ts";
import { headingOf, rowTable } from "./service/row-tables.ts";
import { measureRows, type Row } from "./service/rows.ts";
import { lackOfWrk } from "./service/wrk.ts";

const args = process.argv.slice(2);
const options = optionsOrExit();
const lack = await lackOfWrk();
if (lack !== undefined) {
  exit(lack);
}
const engines = await Promise.all(
  options.paths.map((path): Promise<BenchEngine> => (path === "native" ? nativeEngine() : wasmEngine())),
);
const folder = makeDataFolder();
const book = createQuestionBook(folder);
const machine = describeMachine(args, engines, options.python);

if (options.kinds.length > 0) {
  const rows: Row[] = [];
  for (const engine of engines) {
    const { slots, python } = options;
    await measureRows(engine, options, book, { engine, slots, python, folder }, (row) => {
      rows.push(row);
      console.log(`\n${headingOf(row)}\n\n${rowTable(row)}`);
    });
  }
  keepResults(options.out, "rows", { machine, rows });
}

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
