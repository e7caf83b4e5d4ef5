import {
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

/** The reaction of an engine to a search: it answers, goes on until it is aborted or closed, or fails. */
type Conduct = "answer" | "go on" | FailureKind;

/** An engine without a process. */
interface FakeSession extends EngineSession {
  readonly build: EngineBuild;
  /** Number of the engine, from 1, in the order of the starts. */
  readonly number: number;
  /** Ends the engine from outside. */
  die(failure?: EngineFailure): void;
}

/** A backend of engines without processes, which records their starts and jobs. */
export interface FakeEngines extends EngineBackend {
  readonly sessions: readonly FakeSession[];
  /** The number of attempted starts. */
  readonly starts: number;
  /** The jobs of all searches, in order. */
  readonly jobs: readonly SearchJob[];
}

export interface FakeEnginesOptions {
  readonly path?: EngineBackend["path"];
  readonly builds?: readonly EngineBuild[];
  readonly discover?: EngineBackend["discover"];
  /** By number of the engine. By default, every engine answers. */
  readonly conduct?: (number: number) => Conduct;
  /** A promise that a start waits for; its rejection is the failure of the start. By number of the start. */
  readonly starting?: (number: number) => Promise<void> | undefined;
  /** Resident memory, as the system would report it. */
  readonly memoryBytes?: (session: FakeSession) => number | undefined;
  /** A promise that an engine waits for before it stops for a caller that has left. By default, it stops at once. */
  readonly stopping?: Promise<void>;
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
        options.stopping,
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
  stopping: Promise<void> | undefined,
): FakeSession {
  const exit = Promise.withResolvers<EngineFailure | undefined>();
  let alive = true;
  let searching: PromiseWithResolvers<SearchDone> | undefined;

  function die(failure?: EngineFailure) {
    alive = false;
    exit.resolve(failure);
    searching?.reject(failure ?? new EngineFailure("exited", "the engine was closed"));
  }

  const session: FakeSession = {
    number,
    build,
    info: { name: build.name, author: "nobody", options: [] },
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
        die(new EngineFailure(conduct, `engine ${number} was told to fail`));
      }
      return searching.promise;
    },
    async [Symbol.asyncDispose]() {
      // A process takes a moment to be gone.
      await new Promise(setImmediate);
      die();
    },
  };
  return session;
}
