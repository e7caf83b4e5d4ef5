import { describe, expect, test } from "vitest";
import { EngineFailure } from "../../src/engine/engine.ts";
import { type EnginesOptions, startEngines } from "../../src/engine/engines.ts";
import { silentLog } from "../../src/log/log.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, type FakeEngines } from "./fake-engines.ts";
import { jobOf, underWay } from "./job-of.ts";

const forever = new AbortController().signal;
const wasm = buildOf({ id: "stockfish-18", version: "18", path: "wasm" });
const native = buildOf({ id: "stockfish-19", version: "19", path: "native" });
const turn = () => new Promise(setImmediate);
const never = new Promise<never>(() => {});

interface Told {
  readonly asked?: EnginesOptions["asked"];
  readonly defaultEngine?: string;
  readonly signal?: AbortSignal;
  readonly onStarted?: () => void;
}

function open(
  backends: readonly FakeEngines[],
  { asked, defaultEngine, signal = forever, onStarted }: Told = {},
) {
  return startEngines(
    {
      backends,
      asked,
      defaultEngine,
      memoryMaxBytes: Number.POSITIVE_INFINITY,
      log: silentLog,
      onStarted,
    },
    signal,
  );
}

/** Returns engines whose discovery ends when the test resolves `found`. */
function slowEngines(build = native) {
  const found = Promise.withResolvers<void>();
  const engines = createFakeEngines({
    path: build.path,
    discover: (signal) => {
      signal.addEventListener("abort", () => found.reject(signal.reason), { once: true });
      return found.promise.then(() => [build]);
    },
  });
  return { engines, found };
}

const alive = ({ sessions }: FakeEngines) => sessions.filter((session) => session.alive).length;

describe("engines that start", () => {
  test("the default engine is running when the server is ready, so the first search does not start an engine", async () => {
    const engines = createFakeEngines({ builds: [wasm] });
    const running = await open([engines]);
    expect(running.catalog.latest.id).toBe("stockfish-18");
    await running.search(wasm, jobOf(), forever);
    expect(engines.starts).toBe(1);
  });

  test("the status of the default engine is loading until the engine is ready", async () => {
    const engines = createFakeEngines({ builds: [wasm], starting: () => never });
    const owner = new AbortController();
    const started = Promise.withResolvers<void>();
    const opening = open([engines], { signal: owner.signal, onStarted: started.resolve });
    opening.catch(() => {});
    await started.promise;
    await turn();
    expect([engines.starts, alive(engines)]).toEqual([1, 0]);
    owner.abort();
    await expect(opening).rejects.toBe(owner.signal.reason);
  });

  test.each([
    ["the requested engine", { engine: "stockfish-19", path: "auto" }, [0, 1]],
    ["the newest engine of the requested path", { engine: "latest", path: "wasm" }, [1, 0]],
    ["no engine if no build matches", { engine: "stockfish-19", path: "wasm" }, [0, 0]],
    ["no engine if the id is unknown", { engine: "stockfish-3", path: "auto" }, [0, 0]],
  ] as const)("the command line starts only %s", async (_, asked, starts) => {
    const early = createFakeEngines({ builds: [wasm] });
    const late = slowEngines(native);
    const opening = open([early, late.engines], { asked });
    await turn();
    late.found.resolve();
    expect((await opening).catalog.latest.id).toBe("stockfish-19");
    expect([early.starts, late.engines.starts]).toEqual(starts);
  });

  test("the operator's default engine keeps running while newer engines are used", async () => {
    const early = createFakeEngines({ builds: [wasm] });
    const late = slowEngines();
    late.found.resolve();
    const running = await open([early, late.engines], { defaultEngine: "stockfish-18" });
    expect(running.catalog.latest.id).toBe("stockfish-18");
    expect(late.engines.starts).toBe(0);
    for (let times = 0; times < 3; times++) {
      await running.search(native, jobOf(), forever);
      expect(alive(early)).toBe(1);
      await running.search(wasm, jobOf(), forever);
    }
    expect([early.starts, late.engines.starts]).toEqual([1, 1]);
  });

  test("a build is started by the backend that has found it, even if two backends have one path", async () => {
    const first = createFakeEngines({ builds: [wasm] });
    const second = createFakeEngines({ builds: [buildOf({ id: "stockfish-17", version: "17" })] });
    const running = await open([first, second]);
    const [, build] = running.catalog.versions.map(({ defaultBuild }) => defaultBuild);
    await running.search(build ?? expect.fail("no second build"), jobOf(), forever);
    expect(second.sessions.map((session) => session.build.id)).toEqual(["stockfish-17"]);
  });

  test("the server starts if only one of several backends has an engine", async () => {
    const nothing = createFakeEngines({ builds: [], path: "native" });
    for (const order of [0, 1]) {
      const engines = createFakeEngines({ builds: [wasm] });
      const running = await open(order === 0 ? [nothing, engines] : [engines, nothing]);
      expect(running.catalog.versions.map(({ id }) => id)).toEqual(["stockfish-18"]);
      expect(engines.starts).toBe(1);
    }
  });
});

describe("engines that cannot start", () => {
  test("a start without engines fails, and the error says what to install", async () => {
    const nothing = createFakeEngines({ builds: [] });
    await expect(open([nothing])).rejects.toThrow("no engine was found: install the npm package");
  });

  test("a start without a backend fails at once", async () => {
    await expect(open([])).rejects.toThrow("no engine was found");
  });

  test("a start without the operator's default engine fails with a list of the available engines, and leaves no engine running", async () => {
    const engines = createFakeEngines({ builds: [wasm] });
    await expect(open([engines], { defaultEngine: "stockfish-99" })).rejects.toThrow(
      "KIBITZ_DEFAULT_ENGINE is stockfish-99, but the available engines are: stockfish-18",
    );
    expect(alive(engines)).toBe(0);
  });

  test("a start fails with the reason if the default engine does not start", async () => {
    const failure = new EngineFailure("no_start", "no memory");
    const engines = createFakeEngines({ builds: [wasm], starting: () => Promise.reject(failure) });
    await expect(open([engines])).rejects.toBe(failure);
  });

  test("a failed discovery makes the start fail with the reason before an engine starts", async () => {
    const engines = createFakeEngines({ builds: [wasm] });
    const failure = new Error("a bug in the search");
    const broken = createFakeEngines({ path: "native", discover: () => Promise.reject(failure) });
    await expect(open([engines, broken])).rejects.toBe(failure);
    expect(engines.starts).toBe(0);
  });

  test.each([
    ["engines are being discovered", slowEngines().engines, 0],
    ["the default engine is starting", createFakeEngines({ builds: [wasm], starting: () => never }), 1],
  ])(
    "if a start is aborted while %s, the start ends at once and leaves no engine running",
    async (_, engines, starts) => {
      const owner = new AbortController();
      const opening = open([engines], { signal: owner.signal });
      opening.catch(() => {});
      await turn();
      expect(engines.starts).toBe(starts);
      owner.abort(new Error("interrupted"));
      await expect(opening).rejects.toThrow("interrupted");
      expect(alive(engines)).toBe(0);
    },
  );
});

describe("closing the engines", () => {
  test("closing the engines also ends the engines that are being started", async () => {
    const engines = createFakeEngines({
      builds: [wasm],
      conduct: () => "go on",
      starting: (number) => (number === 1 ? undefined : never),
    });
    const running = await open([engines]);
    await underWay((onProgress) => running.search(wasm, jobOf(), forever, onProgress));
    const waiting = running.search(wasm, jobOf(), forever);
    waiting.catch(() => {});
    await turn();
    await running[Symbol.asyncDispose]();
    await expect(waiting).rejects.toThrow("closed");
    expect(engines.starts).toBe(2);
    expect(alive(engines)).toBe(0);
  });
});
