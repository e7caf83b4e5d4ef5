import { chmodSync, copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { EngineDescription } from "../../../src/engine/backends/native/described.ts";
import type { NativeSearch } from "../../../src/engine/backends/native/find-executables.ts";
import { createNativeBackend } from "../../../src/engine/backends/native/index.ts";
import type { EngineBuild } from "../../../src/engine/engine.ts";
import { digestOf } from "../../../src/engine/file-integrity.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { defaultWatchTimes, type WatchTimes } from "../../../src/engine/uci/watch.ts";
import { type Log, silentLog } from "../../../src/log/log.ts";
import { enginesRunning } from "../../engine/processes.ts";
import { createFolder, writeScript } from "../../engine/write-script.ts";
import { commandOfFake, type FakeEngineOptions } from "../../support/fake-engine/index.ts";
import { testWith } from "../../support/needs.ts";
import { patienceMs } from "../../support/patience.ts";

const settings = { hashMb: 16, threads: 1 };
const forever = new AbortController().signal;
const lite = createRequire(import.meta.url).resolve("stockfish/bin/stockfish-19-lite-single.js");

const realEngine = () => writeScript(`exec "${process.execPath}" "${lite}"`);

/** Returns the path of a script that runs the fake engine. A different `comment` changes the hash of the script. */
function fakeEngine({ comment = "", ...options }: FakeEngineOptions & { readonly comment?: string } = {}) {
  const { file, args } = commandOfFake(options);
  return writeScript(`exec "${file}" "${args.join('" "')}" ${comment}`);
}

/** Returns the path of a fake engine that passes the server's test of engines. */
const goodEngine = (comment = "") => fakeEngine({ learned: true, iterationMs: 1, comment });

/** Returns the path of a fake engine that starts at once, and knows a move for each position of the server's test. */
const shellEngine = (comment: string) =>
  writeScript(`# ${comment}
while read -r word _ position; do
  case $word in
    uci) echo id name Fake 1.0; echo uciok ;;
    isready) echo readyok ;;
    position) case $position in 7k*) move=a2a7 ;; *) move=e1g1 ;; esac ;;
    go) echo info depth 4 score cp 1 pv $move; echo bestmove $move ;;
  esac
done`);

async function discover(where: Partial<NativeSearch>, { signal = forever, times = defaultWatchTimes } = {}) {
  const warnings: string[] = [];
  const warn: Log["warn"] = (fields, message) => warnings.push(`${message}: ${JSON.stringify(fields)}`);
  const backend = createNativeBackend(
    settings,
    { files: undefined, searchPath: "", ...where },
    noSandbox,
    { ...silentLog, warn },
    times,
  );
  const builds = await backend.discover(signal);
  return { builds, warnings, ids: builds.map(({ id }) => id) };
}

afterEach(async () => {
  // No test may leave an engine process running.
  await expect.poll(enginesRunning, { timeout: patienceMs }).toEqual([]);
});

describe("configured engine files", () => {
  test("a native engine is listed under the name that it reports over UCI", async () => {
    const file = realEngine();
    const { builds, warnings } = await discover({ files: [file] });
    expect(builds).toMatchObject([
      {
        id: "stockfish-19-lite",
        name: "Stockfish 19 Lite WASM",
        path: "native",
        family: "stockfish",
        version: "19",
        net: "lite",
        license: "GPL-3.0-or-later",
        settings,
        file,
      },
    ] satisfies Partial<EngineBuild>[]);
    expect(builds[0]?.sha256).toBe(await digestOf([file]));
    expect(warnings).toEqual([]);
  });

  test("a native engine that is configured several times through symbolic links is listed once", async () => {
    const file = goodEngine();
    const link = join(createFolder(), "another-name");
    symlinkSync(file, link);
    const { builds } = await discover({ files: [link, file, link] });
    expect(builds.map((build) => build.file)).toEqual([file]);
  });

  test("two native engine files with the same content are listed as one engine", async () => {
    const file = goodEngine();
    const copy = join(createFolder(), "copy");
    copyFileSync(file, copy);
    const { builds } = await discover({ files: [file, copy] });
    expect(builds.map((build) => build.file)).toEqual([file]);
  });

  test("two different native engines with the same name are listed as two engines", async () => {
    const files = [goodEngine("# one"), goodEngine("# two")];
    const { builds, ids } = await discover({ files });
    const second = builds[1]?.sha256.slice(0, 8);
    expect(ids).toEqual(["fake-1.0", `fake-1.0-${second}`]);
  });

  test("a native engine that gives different results for equal searches is listed as not reproducible, and a warning is logged", async () => {
    const stockfish = { learned: true, iterationMs: 1, name: "Stockfish 1.0" };
    const learning = fakeEngine({ ...stockfish, misbehaviour: "remember" });
    const { builds, warnings } = await discover({ files: [learning, fakeEngine(stockfish)] });
    expect(builds.map(({ reproducible }) => reproducible)).toEqual([false, true]);
    expect(warnings).toEqual([
      expect.stringMatching(/^equal searches of this engine differ.*stockfish-1\.0/),
    ]);
  });

  test("an engine of a family that Kibitz does not know is listed as not reproducible, even if equal searches are equal", async () => {
    const { builds, warnings } = await discover({ files: [fakeEngine({ iterationMs: 1 })] });
    expect(builds).toMatchObject([{ id: "fake-1.0", family: "unknown", reproducible: false }]);
    expect(warnings).toEqual([]);
  });

  test("no native engine is listed if the configured list of engine files is empty", async () => {
    expect(await discover({ files: [] })).toMatchObject({ builds: [], warnings: [] });
  });

  test.each([
    ["does not exist", () => "/nowhere/stockfish"],
    ["is a folder", () => createFolder()],
    [
      "is not executable",
      () => {
        const file = goodEngine();
        chmodSync(file, 0o644);
        return file;
      },
    ],
  ])(
    "if a configured native engine file %s, the log reports this file, and the other engines are listed",
    async (_, create) => {
      const file = create();
      const { ids, warnings } = await discover({ files: [file, goodEngine()] });
      expect(ids).toEqual(["fake-1.0"]);
      expect(warnings).toEqual([expect.stringContaining("KIBITZ_NATIVE_ENGINES names a file")]);
      expect(warnings[0]).toContain(file);
    },
  );

  // Only engines that never become ready have a short timeout.
  const short: Partial<WatchTimes> = { startMs: 500, startMsPerHashMb: 0 };

  test.each<[what: string, create: () => string, reason: string, times?: Partial<WatchTimes>]>([
    ["does not speak UCI", () => writeScript("echo hello; cat > /dev/null"), "within 500 ms", short],
    ["exits immediately", () => writeScript("exit 1"), "closed its pipe"],
    ["prints nothing", () => fakeEngine({ misbehaviour: "mute" }), "not ready within 500 ms", short],
    [
      "reports no name",
      () => writeScript(`echo uciok; read a; read b; echo readyok; cat`),
      "it reports no name",
    ],
    [
      "plays too badly for its family",
      () => fakeEngine({ name: "Stockfish 1.0" }),
      "it does not see the mate in two",
    ],
    ["answers an illegal move", () => fakeEngine({ misbehaviour: "illegal" }), "a1h8 is not legal"],
    ["fails in a search", () => fakeEngine({ misbehaviour: "exit" }), "closed its pipe"],
  ])(
    "if a native engine %s, the engine is not listed, and the log gives the reason",
    async (_, create, reason, times) => {
      const file = create();
      const { builds, warnings } = await discover(
        { files: [file] },
        { times: { ...defaultWatchTimes, ...times } },
      );
      expect(builds).toEqual([]);
      expect(warnings).toEqual([expect.stringContaining("native engine left out")]);
      expect(warnings[0]).toContain(file);
      expect(warnings[0]).toContain(reason);
    },
  );
});

describe("engines on the PATH", () => {
  test("the search for engines on the PATH finds the program stockfish, but ignores npm's script of the same name", async () => {
    const file = goodEngine();
    const modules = join(createFolder(), "node_modules");
    mkdirSync(modules);
    writeScript(`exec "${process.execPath}" "${lite}" # npm`, "stockfish", modules);
    const { builds } = await discover({ searchPath: [modules, dirname(file)].join(delimiter) });
    const files = builds.map((build) => build.file);
    expect(files).toContain(file);
    expect(files.filter((one) => one.includes("node_modules"))).toEqual([]);
  });

  test("the search for engines on the PATH ignores folders without a Stockfish", async () => {
    const { warnings } = await discover({ searchPath: createFolder() });
    expect(warnings).toEqual([]);
  });

  testWith("native")("the search for engines on the PATH finds the installed Stockfish", async () => {
    const { builds } = await discover({ searchPath: process.env.PATH ?? "" });
    expect(builds).toContainEqual(expect.objectContaining({ family: "stockfish", path: "native" }));
  });
});

describe("installed engines", () => {
  /** Returns the folder for the user's data, with these engines in the folder of installed engines. */
  function dataHomeWith(engines: Readonly<Record<string, string>>): string {
    const dataHome = createFolder();
    const folder = join(dataHome, "kibitz", "engines");
    mkdirSync(folder, { recursive: true });
    for (const [name, file] of Object.entries(engines)) {
      copyFileSync(file, join(folder, name));
    }
    return dataHome;
  }

  test("an installed engine is listed, but not the rest of an interrupted installation", async () => {
    const dataHome = dataHomeWith({ "fake-1.0": goodEngine(), ".unfinished": goodEngine("# unfinished") });
    const { builds } = await discover({ dataHome });
    const files = builds.map((build) => build.file);
    expect(files.filter((file) => file.startsWith(dataHome))).toEqual([
      join(dataHome, "kibitz", "engines", "fake-1.0"),
    ]);
  });

  test("an engine that is installed in two folders keeps its id, and the first of its files is used", async () => {
    const engine = goodEngine();
    const dataHome = dataHomeWith({ "fake-1.0": engine, "same-engine": engine });
    const { builds } = await discover({ dataHome });
    expect(builds.filter(({ id }) => id.startsWith("fake")).map(({ id, file }) => [id, file])).toEqual([
      ["fake-1.0", join(dataHome, "kibitz", "engines", "fake-1.0")],
    ]);
  });

  test("an engine on the PATH replaces the installed engine of the same id", async () => {
    const onPath = goodEngine("# on the PATH");
    const dataHome = dataHomeWith({ "fake-1.0": goodEngine() });
    const { builds } = await discover({ searchPath: dirname(onPath), dataHome });
    expect(builds.filter(({ id }) => id.startsWith("fake")).map(({ id, file }) => [id, file])).toEqual([
      ["fake-1.0", onPath],
    ]);
  });

  test("an engine on the PATH replaces the installed engine of the same id, even if a described engine keeps this id", async () => {
    const onPath = shellEngine("on the PATH");
    const path = shellEngine("described");
    const described: EngineDescription = {
      ...{ id: "fake-1.0", command: { written: path, path }, args: [], env: {}, files: [], options: {} },
      ...{ instances: undefined, memoryMb: undefined, startMs: undefined, defaultLimit: undefined },
    };
    const { builds } = await discover({
      ...{ searchPath: dirname(onPath), dataHome: dataHomeWith({ "fake-1.0": shellEngine("installed") }) },
      described: [described],
    });
    expect(builds.filter(({ id }) => id.startsWith("fake")).map(({ id, file }) => [id, file])).toEqual([
      ["fake-1.0", path],
      [expect.stringMatching(/^fake-1\.0-[0-9a-f]{8}$/), onPath],
    ]);
  });

  test.each([
    ["is none", () => []],
    ["names an engine", () => [goodEngine("# named")]],
  ])("an installed engine is not used if KIBITZ_NATIVE_ENGINES %s", async (_, create) => {
    const files = create();
    const { builds } = await discover({ files, dataHome: dataHomeWith({ "fake-1.0": goodEngine() }) });
    expect(builds.map((build) => build.file)).toEqual(files);
  });
});

test("an aborted search for native engines rejects with the reason of the abort, logs no warning, and leaves no process running", async () => {
  const owner = new AbortController();
  const warnings: string[] = [];
  const warn: Log["warn"] = (_, message) => warnings.push(message);
  const backend = createNativeBackend(
    settings,
    { files: [fakeEngine({ misbehaviour: "mute" })], searchPath: "" },
    noSandbox,
    { ...silentLog, warn },
  );
  const found = backend.discover(owner.signal);
  found.catch(() => {});
  await expect.poll(enginesRunning, { timeout: patienceMs }).toHaveLength(1);
  owner.abort(new Error("interrupted"));
  await expect(found).rejects.toThrow("interrupted");
  expect(warnings).toEqual([]);
});
