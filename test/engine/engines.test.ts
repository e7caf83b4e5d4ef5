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
  readonly idleMax?: number;
  readonly signal?: AbortSignal;
  readonly onStarted?: () => void;
}

function open(
  backends: readonly FakeEngines[],
  { asked, defaultEngine, idleMax = 2, signal = forever, onStarted }: Told = {},
) {
  return startEngines(
    {
      backends,
      asked,
      defaultEngine,
      idleMax,
      memoryMaxBytes: Number.POSITIVE_INFINITY,
      log: silentLog,
      onStarted,
    },
    signal,
  );
}

/** A backend whose discovery the test ends when it likes. */
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

describe("a room that opens", () => {
  test("engines have the default one warm at once, so the first search starts none", async () => {
    const engines = createFakeEngines({ builds: [wasm] });
    const room = await open([engines]);
    expect(room.catalog.latest.id).toBe("stockfish-18");
    await room.search(wasm, jobOf(), forever);
    expect((await room.describe(wasm)).name).toBe(wasm.name);
    expect(engines.starts).toBe(1);
  });

  test("engines report that the first one loads before the others have been found", async () => {
    const early = createFakeEngines({ builds: [native], path: "native" });
    const late = slowEngines(wasm);
    const startsWhenTold = new Promise<number>((resolve) => {
      const opening = open([early, late.engines], { onStarted: () => resolve(early.starts) });
      opening.catch(() => {});
    });
    expect(await startsWhenTold).toBe(1);
    late.found.resolve();
  });

  test("engines of the fastest backend start while the other backends still look", async () => {
    const early = createFakeEngines({ builds: [native], path: "native" });
    const late = slowEngines(wasm);
    const opening = open([early, late.engines]);
    await turn();
    expect(early.starts).toBe(1);
    late.found.resolve();
    await (await opening).search(native, jobOf(), forever);
    expect(early.starts).toBe(1);
    expect(late.engines.starts).toBe(0);
  });

  test.each([
    ["the engine that is asked for", { engine: "stockfish-19", path: "auto" }, [0, 1]],
    ["the newest that runs on the path that is asked for", { engine: "latest", path: "wasm" }, [1, 0]],
    ["none if there is none like it", { engine: "stockfish-19", path: "wasm" }, [0, 0]],
    ["none if nobody knows it", { engine: "stockfish-3", path: "auto" }, [0, 0]],
  ] as const)("a start for one command starts %s, and no other engine", async (_, asked, starts) => {
    const early = createFakeEngines({ builds: [wasm] });
    const late = slowEngines(native);
    const opening = open([early, late.engines], { asked });
    await turn();
    late.found.resolve();
    expect((await opening).catalog.latest.id).toBe("stockfish-19");
    expect([early.starts, late.engines.starts]).toEqual(starts);
  });

  test("an engine that was started by a wrong guess is closed, and the right one is warm", async () => {
    const early = createFakeEngines({ builds: [wasm] });
    const late = slowEngines();
    const opening = open([early, late.engines]);
    await turn();
    expect(alive(early)).toBe(1);
    late.found.resolve();
    const room = await opening;
    await turn();
    expect(room.catalog.latest.defaultBuild).toBe(native);
    expect(alive(early)).toBe(0);
    await room.search(native, jobOf(), forever);
    expect(late.engines.starts).toBe(1);
  });

  test("a wrong guess that starts slowly delays nothing, and the right engine stays warm", async () => {
    const ready = Promise.withResolvers<void>();
    const early = createFakeEngines({ builds: [wasm], starting: () => ready.promise });
    const late = slowEngines();
    late.found.resolve();
    const room = await open([early, late.engines], { idleMax: 1 });
    ready.resolve();
    await turn();
    await turn();
    // Its start was broken off.
    expect(early.starts).toBe(1);
    expect(early.sessions).toEqual([]);
    expect(alive(late.engines)).toBe(1);
    await room.search(native, jobOf(), forever);
    expect(late.engines.starts).toBe(1);
  });

  test("a wrong guess that does not start has no effect", async () => {
    const failure = new EngineFailure("no_start", "no memory");
    const early = createFakeEngines({ builds: [wasm], starting: () => Promise.reject(failure) });
    const late = slowEngines();
    const opening = open([early, late.engines]);
    await turn();
    late.found.resolve();
    expect((await opening).catalog.latest.id).toBe("stockfish-19");
  });

  test("no engine is guessed that the operator did not choose", async () => {
    const early = createFakeEngines({ builds: [wasm] });
    const late = slowEngines();
    const opening = open([early, late.engines], { defaultEngine: "stockfish-19" });
    await turn();
    late.found.resolve();
    await opening;
    expect(early.starts).toBe(0);
  });

  test("the operator's choice stays warm beside newer engines, also when those are used", async () => {
    const early = createFakeEngines({ builds: [wasm] });
    const late = slowEngines();
    late.found.resolve();
    const room = await open([early, late.engines], { defaultEngine: "stockfish-18", idleMax: 1 });
    expect(room.catalog.latest.id).toBe("stockfish-18");
    expect(late.engines.starts).toBe(0);
    for (let times = 0; times < 3; times++) {
      await room.search(native, jobOf(), forever);
      expect(alive(early)).toBe(1);
      await room.search(wasm, jobOf(), forever);
    }
    expect([early.starts, late.engines.starts]).toEqual([1, 1]);
  });

  test("the default engine is started again at once when it dies", async () => {
    const engines = createFakeEngines({ builds: [wasm] });
    const room = await open([engines]);
    engines.sessions[0]?.die(new EngineFailure("killed", "from outside"));
    await expect.poll(() => alive(engines)).toBe(1);
    await room.search(wasm, jobOf(), forever);
    expect(engines.starts).toBe(2);
  });

  test("the engines of one backend are enough, if it is the first or the last", async () => {
    const nothing = createFakeEngines({ builds: [], path: "native" });
    for (const order of [0, 1]) {
      const engines = createFakeEngines({ builds: [wasm] });
      const room = await open(order === 0 ? [nothing, engines] : [engines, nothing]);
      expect(room.catalog.versions.map(({ id }) => id)).toEqual(["stockfish-18"]);
      expect(engines.starts).toBe(1);
    }
  });
});

describe("a room that cannot open", () => {
  test("a start without engines ends with what to install", async () => {
    const nothing = createFakeEngines({ builds: [] });
    await expect(open([nothing])).rejects.toThrow("no engine was found: install the npm package");
  });

  test("a start without a backend ends with what to install, and does not wait for ever", async () => {
    await expect(open([])).rejects.toThrow("no engine was found");
  });

  test("a start without the operator's choice ends with the engines that there are, and leaves none running", async () => {
    const engines = createFakeEngines({ builds: [wasm] });
    await expect(open([engines], { defaultEngine: "stockfish-99" })).rejects.toThrow(
      "KIBITZ_DEFAULT_ENGINE is stockfish-99, but the available engines are: stockfish-18",
    );
    expect(alive(engines)).toBe(0);
  });

  test("a start whose default engine does not start ends with the reason", async () => {
    const failure = new EngineFailure("no_start", "no memory");
    const engines = createFakeEngines({ builds: [wasm], starting: () => Promise.reject(failure) });
    await expect(open([engines])).rejects.toBe(failure);
  });

  test.each(["first", "last"])("a start whose %s backend fails leaves no engine", async (which) => {
    const engines = createFakeEngines({ builds: [wasm] });
    const failing = Promise.withResolvers<never>();
    const broken = createFakeEngines({ path: "native", discover: () => failing.promise });
    if (which === "first") {
      failing.reject(new Error("a bug in the search"));
    }
    const opening = open([broken, engines]);
    opening.catch(() => {});
    await turn();
    failing.reject(new Error("a bug in the search"));
    await expect(opening).rejects.toThrow("a bug in the search");
    await turn();
    expect(alive(engines)).toBe(0);
  });

  test("a start that is aborted ends with the abort reason, also if everything was found by then", async () => {
    const owner = new AbortController();
    const engines = createFakeEngines({ builds: [wasm] });
    const found = Promise.withResolvers<[]>();
    const late = createFakeEngines({ path: "native", discover: () => found.promise });
    const opening = open([engines, late], { signal: owner.signal });
    opening.catch(() => {});
    await turn();
    expect(alive(engines)).toBe(1);
    owner.abort(new Error("interrupted"));
    found.resolve([]);
    await expect(opening).rejects.toThrow("interrupted");
    expect(alive(engines)).toBe(0);
  });

  test("a start that is aborted ends at once, and leaves no engine", async () => {
    const owner = new AbortController();
    const early = createFakeEngines({ builds: [wasm] });
    const opening = open([early, slowEngines().engines], { signal: owner.signal });
    opening.catch(() => {});
    await turn();
    expect(alive(early)).toBe(1);
    owner.abort(new Error("interrupted"));
    await expect(opening).rejects.toThrow("interrupted");
    expect(alive(early)).toBe(0);
  });
});

describe("closing a room", () => {
  test("closing the engines ends all of them, also those that are just being started", async () => {
    const engines = createFakeEngines({
      builds: [wasm],
      conduct: () => "go on",
      starting: (number) => (number === 1 ? undefined : never),
    });
    const room = await open([engines]);
    await underWay((onProgress) => room.search(wasm, jobOf(), forever, onProgress));
    const waiting = room.search(wasm, jobOf(), forever);
    waiting.catch(() => {});
    await turn();
    await room[Symbol.asyncDispose]();
    await expect(waiting).rejects.toThrow("closed");
    expect(engines.starts).toBe(2);
    expect(alive(engines)).toBe(0);
  });
});
