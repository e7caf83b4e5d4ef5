import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import { beginSpan } from "../tracing/spans.ts";
import { type Backoff, createBackoff } from "./backoff.ts";
import {
  beforeAbort,
  type EngineBackend,
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type FailureKind,
} from "./engine.ts";

/** Running engines. Each serves one search at a time. */
export interface EnginePool extends AsyncDisposable {
  /** False after three failed starts in a row, until a start succeeds. Meanwhile the pool goes on trying. */
  available(build: EngineBuild): boolean;
  readonly changes: EventEmitter<EngineEvents>;
  /**
   * An idle engine of the build, or a new one. If the caller leaves while an engine starts, the next caller gets that engine.
   * A build never has more engines than it once had callers at the same time.
   *
   * @throws EngineFailure of the kind `no_start` if several starts fail, or the reason of `signal`.
   */
  acquire(build: EngineBuild, signal: AbortSignal): Promise<EngineSession>;
  /** Takes an engine back. A dead engine is forgotten. */
  release(session: EngineSession): void;
  /**
   * Keeps at least one engine of the build from now on, as far as memory allows. Resolves when there is one.
   *
   * @throws as `acquire`.
   */
  keepWarm(build: EngineBuild, signal: AbortSignal): Promise<void>;
  /** Ends all searches under way as if their time were up. */
  cutShort(): void;
  /** The engines that there are, by build. */
  status(): readonly EngineStatus[];
}

/** Events in the life of engines. */
export interface EngineEvents {
  /** Engines of a build became unavailable, or available again. */
  change: [EngineBuild];
  /** An engine was started, in so many seconds. */
  started: [EngineBuild, number];
  /** An engine failed, or could not be started. */
  lost: [EngineBuild, FailureKind];
}

/** `waiting` for the end of a backoff. Engines that wait or close are not counted as memory. */
type EngineActivity = "waiting" | "starting" | "busy" | "idle" | "closing";

/** The engines of a build. */
export interface EngineStatus {
  readonly build: EngineBuild;
  /** The activity of each engine. */
  readonly states: readonly EngineActivity[];
  /** All engines together. */
  readonly memoryBytes: number;
}

interface EnginePoolOptions {
  readonly backends: readonly EngineBackend[];
  /** Bytes that all engines together may take. Busy engines are never ended for it. */
  readonly memoryMaxBytes: number;
  readonly log: Log;
}

/** Failed starts in a row after which a build is unavailable. */
const failuresMax = 3;

/** Longest backoff that a caller waits for, in milliseconds: a waiting caller holds a slot. */
const patienceMs = 1000;

/** Measured after a search: Stockfish 19 in WebAssembly, 16 MiB of hash. A native engine takes less. */
const typicalBytes = { full: 490e6, lite: 130e6 } as const;

interface Entry {
  readonly build: EngineBuild;
  state: EngineActivity;
  /** Undefined until the engine has started. */
  session: EngineSession | undefined;
  /** Ends the start. */
  readonly abort: AbortController;
}

interface BuildState {
  /** Callers that wait for an engine, the longest waiting first. */
  readonly waiters: PromiseWithResolvers<EngineSession>[];
  readonly backoff: Backoff;
  isAvailable: boolean;
}

export function createPool({ backends, memoryMaxBytes, log }: EnginePoolOptions): EnginePool {
  /** An entry moves to the end when its engine becomes idle: the longest idle engine is first. */
  const entries = new Set<Entry>();
  const builds = new Map<EngineBuild, BuildState>();
  const changes: EnginePool["changes"] = new EventEmitter();
  const closed = new AbortController();
  const emptied = Promise.withResolvers<void>();
  let warm: EngineBuild | undefined;

  function stateOf(build: EngineBuild): BuildState {
    const state = builds.get(build) ?? { waiters: [], backoff: createBackoff(), isAvailable: true };
    builds.set(build, state);
    return state;
  }

  const entriesOf = (build: EngineBuild, ...states: readonly EngineActivity[]) =>
    entriesIn(...states).filter((entry) => entry.build === build);
  const entriesIn = (...states: readonly EngineActivity[]) =>
    [...entries].filter(({ state }) => states.includes(state));

  /** Starts an engine for a waiting caller, or to be idle. Never rejects. */
  async function start(build: EngineBuild): Promise<void> {
    const entry: Entry = { build, state: "waiting", session: undefined, abort: new AbortController() };
    entries.add(entry);
    const { signal } = entry.abort;
    const { id: engine, path } = build;
    const state = stateOf(build);
    const { backoff } = state;
    let begunAt = performance.now();
    try {
      if (backoff.waitMs > 0) {
        await sleep(backoff.waitMs, undefined, { signal });
      }
      makeRoomFor(build);
      entry.state = "starting";
      begunAt = performance.now();
      const session = await startUnchanged(backendOf(build), build, signal);
      if (signal.aborted) {
        await session[Symbol.asyncDispose]();
        signal.throwIfAborted();
      }
      const ms = performance.now() - begunAt;
      entry.session = session;
      backoff.succeeded();
      log.debug({ engine, path, ms: Math.round(ms) }, "engine started");
      if (!state.isAvailable) {
        state.isAvailable = true;
        log.info({ engine, path }, "engine is available again");
        changes.emit("change", build);
      }
      changes.emit("started", build, ms / 1000);
      beginSpan("engine start", {
        startTime: begunAt,
        attributes: { "kibitz.engine": engine, "kibitz.path": path },
      })?.end();
      void session.exited.then((failure) => onExit(entry, failure));
      offer(entry);
    } catch (error) {
      remove(entry);
      if (!signal.aborted) {
        backoff.failed(begunAt);
        const message = error instanceof Error ? error.message : String(error);
        log.warn({ engine, path, error: message }, "engine could not be started");
        changes.emit("lost", build, "no_start");
        if (backoff.failures >= failuresMax && state.isAvailable) {
          state.isAvailable = false;
          log.warn({ engine, path }, "engine is unavailable");
          changes.emit("change", build);
        }
        retryOrReject(build, error);
      }
    }
    replenish();
  }

  function backendOf({ path }: EngineBuild): EngineBackend {
    const backend = backends.find((one) => one.path === path);
    if (backend === undefined) {
      throw new Error(`no backend for the path ${path}`);
    }
    return backend;
  }

  /** Retry for the callers that wait, because one failed start says little of the next one; reject them if the build is unavailable. */
  function retryOrReject(build: EngineBuild, error: unknown): void {
    const { waiters, backoff, isAvailable } = stateOf(build);
    if (error instanceof EngineFailure && isAvailable && backoff.waitMs <= patienceMs) {
      startForWaiters(build);
      return;
    }
    const starts = entriesOf(build, "waiting", "starting").length;
    for (const { reject } of waiters.splice(starts)) {
      reject(error);
    }
  }

  function startForWaiters(build: EngineBuild): void {
    const missing = stateOf(build).waiters.length - entriesOf(build, "waiting", "starting").length;
    for (let count = 0; count < missing; count++) {
      void start(build);
    }
  }

  /** Gives the engine to the caller that waits longest, or makes it idle. */
  function offer(entry: Entry): void {
    const { build, session } = entry;
    const waiter = stateOf(build).waiters.shift();
    if (waiter && session) {
      entry.state = "busy";
      waiter.resolve(session);
      return;
    }
    entry.state = "idle";
    entries.delete(entry);
    entries.add(entry);
  }

  function onExit(entry: Entry, failure: EngineFailure | undefined): void {
    remove(entry);
    if (failure) {
      const { id: engine, path } = entry.build;
      log.warn({ engine, path, kind: failure.kind, error: failure.message }, "engine failed");
      changes.emit("lost", entry.build, failure.kind);
    }
    // In a moment: a search whose engine has died starts the next one itself, and its trace shows that.
    setImmediate(replenish);
  }

  function close(entry: Entry): void {
    entry.state = "closing";
    entry.abort.abort(closed.signal.reason);
    void entry.session?.[Symbol.asyncDispose]();
  }

  function remove(entry: Entry): void {
    entries.delete(entry);
    if (closed.signal.aborted && entries.size === 0) {
      emptied.resolve();
    }
  }

  /**
   * Starts engines that no caller waits for: of the build to keep warm if none is left, and of unavailable builds,
   * because callers avoid those and nobody else would notice that they can be started again.
   */
  function replenish(): void {
    if (closed.signal.aborted) {
      return;
    }
    for (const [build, { isAvailable }] of builds) {
      const hasNone = entriesOf(build, "waiting", "starting", "busy", "idle").length === 0;
      if (hasNone && (!isAvailable || (build === warm && hasRoomFor(build)))) {
        void start(build);
      }
    }
  }

  function bytesOf({ build, session }: Entry): number {
    return session?.memoryBytes() ?? expectedBytes(build);
  }

  /** Bytes of a new engine: as many as the largest running engine of its build takes. */
  function expectedBytes(build: EngineBuild): number {
    const running = entriesOf(build, "busy", "idle").map(({ session }) => session?.memoryBytes() ?? 0);
    return Math.max(0, ...running) || typicalBytes[build.net];
  }

  /** True if an engine of the build fits when all idle engines are closed. A single engine always fits. */
  function hasRoomFor(build: EngineBuild): boolean {
    const inUse = entriesIn("starting", "busy");
    return inUse.length === 0 || sum(inUse.map(bytesOf)) + expectedBytes(build) <= memoryMaxBytes;
  }

  /** Closes idle engines, longest idle first and the warm build last, until an engine of the build fits. */
  function makeRoomFor(build: EngineBuild): void {
    let bytes = sum(entriesIn("starting", "busy", "idle").map(bytesOf)) + expectedBytes(build);
    const idle = entriesIn("idle");
    const isWarm = (entry: Entry) => entry.build === warm;
    for (const entry of [...idle.filter((one) => !isWarm(one)), ...idle.filter(isWarm)]) {
      if (bytes <= memoryMaxBytes) {
        return;
      }
      bytes -= bytesOf(entry);
      close(entry);
    }
  }

  async function acquire(build: EngineBuild, signal: AbortSignal): Promise<EngineSession> {
    closed.signal.throwIfAborted();
    signal.throwIfAborted();
    const idle = entriesOf(build, "idle").filter(({ session }) => session?.alive);
    // The engine that was used last is the warmest, but it may still be resetting its hash.
    const entry = idle.findLast(({ session }) => session?.state === "idle") ?? idle.at(-1);
    if (entry?.session) {
      entry.state = "busy";
      return entry.session;
    }
    const { waiters, backoff } = stateOf(build);
    if (backoff.waitMs > patienceMs) {
      throw new EngineFailure("no_start", "the last engines of this build could not be started", {
        retryAfterMs: Math.ceil(backoff.waitMs),
      });
    }
    const waiter = Promise.withResolvers<EngineSession>();
    waiters.push(waiter);
    startForWaiters(build);
    try {
      return await beforeAbort(waiter.promise, signal);
    } catch (error) {
      if (waiters.includes(waiter)) {
        waiters.splice(waiters.indexOf(waiter), 1);
      } else {
        // An engine may have been given to the caller in the moment when it left.
        waiter.promise.then(release, () => {});
      }
      throw error;
    }
  }

  function release(session: EngineSession): void {
    const entry = entriesIn("busy").find((one) => one.session === session);
    if (entry && session.alive && !closed.signal.aborted) {
      offer(entry);
      replenish();
    }
  }

  return {
    changes,
    available: (build) => stateOf(build).isAvailable,
    acquire,
    release,
    async keepWarm(build, signal) {
      warm = build;
      release(await acquire(build, signal));
    },
    cutShort() {
      for (const { session } of entries) {
        session?.cutShort();
      }
    },
    status() {
      return [...Map.groupBy(entries, ({ build }) => build)].map(([build, some]) => ({
        build,
        states: some.map(({ state }) => state),
        memoryBytes: sum(some.filter(({ session }) => session?.alive).map(bytesOf)),
      }));
    },
    async [Symbol.asyncDispose]() {
      const reason = new KibitzError("shutting_down", "The engines are being closed.");
      closed.abort(reason);
      for (const { waiters } of builds.values()) {
        for (const { reject } of waiters.splice(0)) {
          reject(reason);
        }
      }
      entries.forEach(close);
      if (entries.size > 0) {
        await emptied.promise;
      }
    },
  };
}

/**
 * Starts an engine whose files are those that were found. The content of a WebAssembly engine is read while it loads, because
 * that takes less time than loading: another engine may have run in its sandbox, but never answers.
 */
async function startUnchanged(
  backend: EngineBackend,
  build: EngineBuild,
  signal: AbortSignal,
): Promise<EngineSession> {
  await build.assertUnchanged();
  signal.throwIfAborted();
  const genuine = build.assertGenuine();
  genuine.catch(() => {});
  const session = await backend.start(build, signal);
  try {
    await genuine;
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
