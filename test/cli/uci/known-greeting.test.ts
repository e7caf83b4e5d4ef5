import { appendFileSync, mkdtempSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type KnownGreeting, readKnownGreeting } from "../../../src/cli/known-greeting.ts";
import { stateOfEngineFiles } from "../../../src/engine/engine-files.ts";
import { enginesRunning } from "../../engine/processes.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { startUci, type UciTalk } from "./start-session.ts";

const folderOfTests = useTemporaryFolder();
const temporaryFolder = () => mkdtempSync(join(folderOfTests, "test-"));

const greeting = ["id name Kibitz 1 (Stockfish)", "id author many", "uciok"];

/** Reads the greeting of an engine, as the next start would. */
function reader(folder: string) {
  return (values: Record<string, string> = {}, env: Record<string, string> = {}): Promise<KnownGreeting> => {
    const host = { env: { KIBITZ_DATA_DIR: folder, ...env } };
    return readKnownGreeting({ values, host } as unknown as Parameters<typeof readKnownGreeting>[0]);
  };
}

test("a greeting is known to the next start with the same engines, and to no other", async () => {
  const folder = temporaryFolder();
  const read = reader(join(folder, "cache"));
  await (await read()).keep(greeting);
  expect((await read()).lines).toEqual(greeting);
  expect((await read({ engine: "stockfish-19-lite" })).lines).toBeUndefined();
  expect((await read({ path: "native" })).lines).toBeUndefined();
  expect((await read({}, { KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite" })).lines).toBeUndefined();
});

test.each([
  ["cut", (file: string) => truncateSync(file, 100)],
  ["empty", (file: string) => truncateSync(file, 0)],
  ["longer", (file: string) => appendFileSync(file, "\noption name Mine type check default false")],
  ["another one", (file: string) => writeFileSync(file, "quit\nuciok\n")],
  [
    "changed in a letter",
    (file: string) => writeFileSync(file, readFileSync(file, "utf8").replace("S", "s")),
  ],
])("a stored greeting that is %s is ignored, and replaced at the next start", async (_, damage) => {
  const folder = temporaryFolder();
  const read = reader(folder);
  await (await read()).keep(greeting);
  damage(join(folder, readdirSync(folder)[0] ?? ""));
  const damaged = await read();
  expect(damaged.lines).toBeUndefined();
  await damaged.keep(greeting);
  expect((await read()).lines).toEqual(greeting);
});

test.each([
  ["below a file", (folder: string) => join(folder, "file", "cache")],
  // Node's own recursion never returns there.
  ["in a file system without folders", () => "/proc/none/cache"],
])("a greeting that cannot be stored %s is no error", async (_, cache) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  const read = reader(cache(folder));
  await (await read()).keep(greeting);
  expect((await read()).lines).toBeUndefined();
});

test("the state of the engines' files differs when an engine is added, replaced or gone", async () => {
  const folder = temporaryFolder();
  const stateNow = () => stateOfEngineFiles({ files: [join(folder, "engine")], searchPath: "" });
  const states = [await stateNow()];
  writeFileSync(join(folder, "engine"), "one", { mode: 0o755 });
  states.push(await stateNow(), await stateNow());
  writeFileSync(join(folder, "engine"), "other");
  states.push(await stateNow());
  expect(states[1]).toBe(states[2]);
  expect(new Set(states).size).toBe(3);
});

test("kibitz uci greets from its second start on before it starts an engine, and readyok waits for the engine", async () => {
  const env = { KIBITZ_DATA_DIR: temporaryFolder() };
  const start = (): UciTalk => {
    const talk = startUci([], "uci", env);
    onTestFinished(async () => {
      talk.hangUp();
      await talk.ended;
    });
    return talk;
  };
  const first = start();
  first.say("uci", "quit");
  const greeted = await first.until(/^uciok$/);
  expect(await first.ended).toBe(0);
  const second = start();
  second.say("uci", "quit");
  expect(await second.until(/^uciok$/)).toEqual(greeted);
  expect(await second.ended).toBe(0);
  const third = start();
  third.say("uci");
  await third.until(/^uciok$/);
  expect(enginesRunning()).toEqual([]);
  third.say("setoption name MultiPV value 2", "isready", "go depth 2");
  expect(await third.until(/^readyok$/)).toEqual(["readyok"]);
  expect(enginesRunning()).not.toEqual([]);
  expect((await third.until(/^bestmove /)).at(-2)).toContain(" multipv 2 ");
});
