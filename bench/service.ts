/** Compares Kibitz with other services. A complete run writes `docs/measured.md`. */
import { makeDataFolder } from "./data-folder.ts";
import { describeRun, writeMeasured } from "./measured.ts";
import { measureCached } from "./service/cached.ts";
import { type BenchEngine, nativeEngine, wasmEngine } from "./service/engine.ts";
import { measureEngines } from "./service/engine-row.ts";
import { describeMachine } from "./service/machine.ts";
import { type BenchOptions, readOptions, usage } from "./service/options.ts";
import { createQuestionBook } from "./service/questions.ts";
import { headingOf, rowTable } from "./service/row-tables.ts";
import { measureRows, type Row } from "./service/rows.ts";
import { measureStored } from "./service/stored.ts";
import { measureTablebase } from "./service/tablebase-row.ts";
import { lackOfWrk } from "./service/wrk.ts";

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(usage);
  process.exit();
}
const options = optionsOrExit();
if (options.kinds.includes("engine")) {
  const text = `${describeRun(["npm run bench", "--", ...args].join(" "))}.\n\n${await measureEngines()}`;
  console.log(text);
  writeMeasured("engines", text);
  process.exit();
}
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
const { slots, python } = options;
const settings = { engine: firstEngine, slots, python, folder };

if (options.kinds.includes("tablebase")) {
  const text = `${describeMachine(args, engines, python)}\n\n${await measureTablebase(options, settings, book)}`;
  console.log(text);
  writeMeasured("tablebase", text);
  process.exit();
}

const written: string[] = [];
print(describeMachine(args, engines, python));
const onRow = (row: Row) => print(`\n### ${headingOf(row)}\n\n${rowTable(row)}`);
for (const engine of options.kinds.some((kind) => kind === "new" || kind === "repeated") ? engines : []) {
  await measureRows(engine, options, book, { ...settings, engine }, onRow);
}
if (options.kinds.includes("cached")) {
  await measureCached(options, settings, onRow);
}
if (options.kinds.includes("stored")) {
  await measureStored(options, settings, book, onRow);
}
if (options.allCells) {
  writeMeasured("bench", written.join("\n"));
}

function print(text: string): void {
  written.push(text);
  console.log(text);
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
