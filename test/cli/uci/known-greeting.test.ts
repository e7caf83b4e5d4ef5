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

function reader(folder: string) {
  return (values: Record<string, string> = {}, env: Record<string, string> = {}): Promise<KnownGreeting> => {
    const host = { env: { KIBITZ_DATA_DIR: folder, ...env } };
    return readKnownGreeting({ values, host } as unknown as Parameters<typeof readKnownGreeting>[0]);
  };
}

test("the stored UCI greeting is used by the next start only if the engine is the same", async () => {
  const folder = temporaryFolder();
  const read = reader(join(folder, "cache"));
  await (await read()).keep(greeting);
  expect((await read()).lines).toEqual(greeting);
  expect((await read({ engine: "stockfish-19-lite" })).lines).toBeUndefined();
  expect((await read({ path: "native" })).lines).toBeUndefined();
  expect((await read({}, { KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite" })).lines).toBeUndefined();
});

test.each([
  ["truncated", (file: string) => truncateSync(file, 100)],
  ["empty", (file: string) => truncateSync(file, 0)],
  [
    "followed by more text",
    (file: string) => appendFileSync(file, "\noption name Mine type check default false"),
  ],
  ["replaced by another text", (file: string) => writeFileSync(file, "quit\nuciok\n")],
  [
    "changed by one letter",
    (file: string) => writeFileSync(file, readFileSync(file, "utf8").replace("S", "s")),
  ],
])("a stored UCI greeting that is %s is ignored, and then replaced", async (_, damage) => {
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
  ["in a folder below a file", (folder: string) => join(folder, "file", "cache")],
  // A recursive `mkdir` of Node never returns in `/proc`.
  ["in a file system without folders", () => "/proc/none/cache"],
])("a UCI greeting that cannot be stored %s causes no error", async (_, cache) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  const read = reader(cache(folder));
  await (await read()).keep(greeting);
  expect((await read()).lines).toBeUndefined();
});

test("the stored UCI greeting becomes invalid when an engine file is added, replaced or removed", async () => {
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

test("kibitz uci prints the stored greeting before it starts an engine, and readyok after the engine has started", async () => {
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
