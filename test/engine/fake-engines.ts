import {
  beforeAbort,
  type EngineBackend,
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type FailureKind,
  type SearchDone,
  type SearchJob,
  type SearchProgress,
  type Snapshot,
} from "../../src/engine/engine.ts";
import { buildOf } from "./build-of.ts";

/** The behavior of a fake engine in a search. `go on`: the search runs until it is aborted or the engine is closed. */
type Conduct = "answer" | "go on" | FailureKind;

interface FakeSession extends EngineSession {
  readonly build: EngineBuild;
  /** The first engine has the number 1. */
  readonly number: number;
  /** Simulates the end of the engine process. */
  die(failure?: EngineFailure): void;
}

export interface FakeEngines extends EngineBackend {
  readonly sessions: readonly FakeSession[];
  /** Includes failed starts. */
  readonly starts: number;
  readonly jobs: readonly SearchJob[];
}

export interface FakeEnginesOptions {
  readonly path?: EngineBackend["path"];
  readonly builds?: readonly EngineBuild[];
  readonly discover?: EngineBackend["discover"];
  /** Returns the behavior of the engine with this number. Default: every engine returns a result. */
  readonly conduct?: (number: number) => Conduct;
  /** An engine start waits for this promise, and fails if the promise is rejected. */
  readonly starting?: (number: number) => Promise<void> | undefined;
  /** Returns the resident memory that the operating system would report. */
  readonly memoryBytes?: (session: FakeSession) => number | undefined;
  /**
   * After a search was aborted, the engine waits for this promise before it stops. By default, the engine stops immediately.
   */
  readonly stopping?: Promise<void>;
  /** A dead engine waits for the returned promise before it reports its end. By default, the engine reports its end immediately. */
  readonly exiting?: () => Promise<void>;
  /** A search on the engine with this number waits for this promise, as if the engine were cleaned. */
  readonly cleaning?: (number: number) => Promise<void>;
}

const snapshot: Snapshot = {
  depth: 1,
  complete: true,
  lines: [
    {
      depth: 1,
      seldepth: 1,
      score: { value: { kind: "cp", cp: 0 }, bound: "exact", wdl: undefined },
      moves: ["e2e4"],
    },
  ],
  counters: { nodes: 1, nps: 1, timeMs: 1, hashfull: 0, tbhits: 0 },
};
export const fakeProgress: SearchProgress = { kind: "progress", snapshot };
export const fakeAnswer: SearchDone = {
  kind: "done",
  snapshot,
  bestMove: "e2e4",
  ponder: undefined,
  endedBy: "depth",
};

export function createFakeEngines(options: FakeEnginesOptions = {}): FakeEngines {
  const { path = "wasm", builds = [buildOf({ path })], conduct = () => "answer" } = options;
  const sessions: FakeSession[] = [];
  const jobs: SearchJob[] = [];
  let starts = 0;
  return {
    path,
    sessions,
    jobs,
    get starts() {
      return starts;
    },
    discover: options.discover ?? (async () => builds),
    async start(build, signal) {
      const number = ++starts;
      const aborted = Promise.withResolvers<never>();
      aborted.promise.catch(() => {});
      signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
      await Promise.race([options.starting?.(number), aborted.promise]);
      signal.throwIfAborted();
      const session = createFakeSession(
        build,
        number,
        conduct(number),
        options.memoryBytes ?? (() => undefined),
        jobs,
        options,
      );
      sessions.push(session);
      return session;
    },
  };
}

function createFakeSession(
  build: EngineBuild,
  number: number,
  conduct: Conduct,
  memoryBytes: (session: FakeSession) => number | undefined,
  jobs: SearchJob[],
  { stopping, exiting, cleaning = async () => {} }: FakeEnginesOptions,
): FakeSession {
  const exit = Promise.withResolvers<EngineFailure | undefined>();
  let alive = true;
  let searching: PromiseWithResolvers<SearchDone> | undefined;

  function die(failure?: EngineFailure) {
    alive = false;
    exit.resolve(exiting ? exiting().then(() => failure) : failure);
    searching?.reject(failure ?? new EngineFailure("exited", "the engine was closed"));
  }

  const session: FakeSession = {
    number,
    build,
    info: { name: build.name, author: "nobody", options: [], linesMax: build.linesMax },
    get alive() {
      return alive;
    },
    get state() {
      return alive ? (searching ? "searching" : "idle") : "ended";
    },
    memoryBytes: () => memoryBytes(session),
    cutShort() {},
    exited: exit.promise,
    die,
    ready: (signal) => beforeAbort(cleaning(number), signal),
    async search(job, signal, onProgress = () => {}) {
      signal.throwIfAborted();
      jobs.push(job);
      onProgress(fakeProgress);
      if (conduct === "answer") {
        return fakeAnswer;
      }
      searching = Promise.withResolvers<SearchDone>();
      const leave = async () => {
        await stopping;
        searching?.reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      if (conduct !== "go on") {
        die(new EngineFailure(conduct, `engine ${number} fails as the test requires`));
      }
      return searching.promise;
    },
    async [Symbol.asyncDispose]() {
      // A real process also ends a moment later.
      await new Promise(setImmediate);
      die();
    },
  };
  return session;
}
