import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import { createBackoff } from "./backoff.ts";
import {
  beforeAbort,
  type EngineBackend,
  type EngineBuild,
  EngineFailure,
  type EngineInfo,
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
   *
   * @throws EngineFailure of the kind `no_start` if several starts fail, or the reason of `signal`.
   */
  acquire(build: EngineBuild, signal: AbortSignal): Promise<EngineSession>;
  /** Takes an engine back. A dead engine is forgotten. */
  release(session: EngineSession): void;
  /**
   * Keeps at least one engine of the build, as far as memory allows, instead of the build that was kept warm before.
   * Resolves when there is one.
   *
   * @throws as `acquire`.
   */
  keepWarm(build: EngineBuild | undefined, signal: AbortSignal): Promise<void>;
  /** Ends all searches under way as if their time were up. */
  cutShort(): void;
  /** The engines that there are, by build. */
  standing(): readonly EngineStanding[];
  /** Name and options of the build. If no engine of the build has run yet, starts one and closes it again. */
  describe(build: EngineBuild): Promise<EngineInfo>;
}

/** Events in the life of engines. */
export interface EngineEvents {
  /** Engines of a build became unavailable, or available again. */
  change: [EngineBuild];
  /** An engine was started, in so many seconds. */
  started: [EngineBuild, number];
  /** An engine failed, could not be started, or was recycled. */
  lost: [EngineBuild, FailureKind | "recycled"];
  /** An engine failed in a search. */
  failed: [EngineBuild, FailedAttempt];
}

interface FailedAttempt {
  readonly kind: FailureKind;
  /** Attempt of the search, from 1. */
  readonly attempt: number;
  /** True if the search is not retried, and fails with this engine. */
  readonly isLast: boolean;
}

/** `waiting` for the end of a backoff. Engines that wait or close are not counted as memory. */
type EngineActivity = "waiting" | "starting" | "busy" | "idle" | "closing";

/** The engines of a build. */
export interface EngineStanding {
  readonly build: EngineBuild;
  /** The activity of each engine. */
  readonly states: readonly EngineActivity[];
  /** All engines together. */
  readonly memoryBytes: number;
}

interface EnginePoolOptions {
  readonly backends: readonly EngineBackend[];
  /** Most idle engines of one build. The scheduler limits how many are busy. */
  readonly idleMax: number;
  /** Bytes that all engines together may take. Busy engines are never ended for it. */
  readonly memoryMaxBytes: number;
  readonly log: Log;
  /** Searches after which an engine is recycled. */
  readonly searchesMax?: number;
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

export function createPool(options: EnginePoolOptions): EnginePool {
  const { backends, idleMax, memoryMaxBytes, log, searchesMax = 100_000 } = options;
  /** An entry moves to the end when its engine becomes idle: the longest idle engine is first. */
  const entries = new Set<Entry>();
  const waiters = createByBuild<PromiseWithResolvers<EngineSession>[]>(() => []);
  const backoffs = createByBuild(() => createBackoff());
  const unavailable = new Set<EngineBuild>();
  const infos = new Map<EngineBuild, EngineInfo>();
  /** The most bytes that an engine of the build was seen to take. */
  const seenBytes = new Map<EngineBuild, number>();
  const changes: EnginePool["changes"] = new EventEmitter();
  const closed = new AbortController();
  const emptied = Promise.withResolvers<void>();
  let warm: EngineBuild | undefined;
  let describing: Promise<unknown> = Promise.resolve();

  const entriesOf = (build: EngineBuild, ...states: readonly EngineActivity[]) =>
    [...entries].filter((entry) => entry.build === build && states.includes(entry.state));
  const entriesIn = (...states: readonly EngineActivity[]) =>
    [...entries].filter(({ state }) => states.includes(state));

  /** Starts an engine for a waiting caller, or to be idle. Never rejects. */
  async function start(build: EngineBuild): Promise<void> {
    const entry: Entry = { build, state: "waiting", session: undefined, abort: new AbortController() };
    entries.add(entry);
    const { signal } = entry.abort;
    const { id: engine, path } = build;
    const backoff = backoffs(build);
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
      infos.set(build, session.info);
      backoff.succeeded();
      log.debug({ engine, path, ms: Math.round(ms) }, "engine started");
      if (unavailable.delete(build)) {
        log.info({ engine, path }, "engine is available again");
        changes.emit("change", build);
      }
      changes.emit("started", build, ms / 1000);
      void session.exited.then((failure) => onExit(entry, failure));
      offer(entry);
    } catch (error) {
      remove(entry);
      if (!signal.aborted) {
        backoff.failed(begunAt);
        log.warn({ engine, path, error: messageOf(error) }, "engine could not be started");
        changes.emit("lost", build, "no_start");
        if (backoff.failures >= failuresMax && !unavailable.has(build)) {
          unavailable.add(build);
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
    if (error instanceof EngineFailure && !unavailable.has(build) && backoffs(build).waitMs <= patienceMs) {
      startForWaiters(build);
      return;
    }
    const starts = entriesOf(build, "waiting", "starting").length;
    for (const { reject } of waiters(build).splice(starts)) {
      reject(error);
    }
  }

  function startForWaiters(build: EngineBuild): void {
    const missing = waiters(build).length - entriesOf(build, "waiting", "starting").length;
    for (let count = 0; count < missing; count++) {
      void start(build);
    }
  }

  /** Gives the engine to the caller that waits longest, or makes it idle. */
  function offer(entry: Entry): void {
    const { build, session } = entry;
    const waiter = waiters(build).shift();
    if (waiter && session) {
      entry.state = "busy";
      waiter.resolve(session);
      return;
    }
    entry.state = "idle";
    entries.delete(entry);
    entries.add(entry);
    const idle = entriesOf(build, "idle");
    idle.slice(0, Math.max(0, idle.length - idleMax)).forEach(close);
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
    for (const build of new Set(warm ? [warm, ...unavailable] : unavailable)) {
      const isThere = entriesOf(build, "waiting", "starting", "busy", "idle").length > 0;
      if (!isThere && (unavailable.has(build) || hasRoomFor(build))) {
        void start(build);
      }
    }
  }

  function expectedBytes(build: EngineBuild): number {
    return seenBytes.get(build) ?? typicalBytes[build.net];
  }

  function bytesOf({ build, session }: Entry): number {
    const bytes = session?.memoryBytes();
    if (bytes !== undefined) {
      seenBytes.set(build, Math.max(bytes, seenBytes.get(build) ?? 0));
    }
    return bytes ?? expectedBytes(build);
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

  /** Closes the engines of a build that no search uses. For the time before there are callers. */
  function drop(build: EngineBuild): void {
    entriesOf(build, "waiting", "starting", "idle").forEach(close);
    for (const { reject } of waiters(build).splice(0)) {
      reject(new EngineFailure("no_start", "another build is kept warm instead"));
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
    const { waitMs } = backoffs(build);
    if (waitMs > patienceMs) {
      throw new EngineFailure("no_start", "the last engines of this build could not be started", {
        retryAfterMs: Math.ceil(waitMs),
      });
    }
    const waiter = Promise.withResolvers<EngineSession>();
    waiters(build).push(waiter);
    startForWaiters(build);
    try {
      return await beforeAbort(waiter.promise, signal);
    } catch (error) {
      const waiting = waiters(build);
      if (waiting.includes(waiter)) {
        waiting.splice(waiting.indexOf(waiter), 1);
      } else {
        // An engine may have been given to the caller in the moment when it left.
        waiter.promise.then(release, () => {});
      }
      throw error;
    }
  }

  function release(session: EngineSession): void {
    const entry = entriesIn("busy").find((one) => one.session === session);
    if (entry === undefined || !session.alive || closed.signal.aborted) {
      return;
    }
    if (session.searches >= searchesMax) {
      changes.emit("lost", entry.build, "recycled");
      close(entry);
    } else {
      offer(entry);
    }
    replenish();
  }

  return {
    changes,
    available: (build) => !unavailable.has(build),
    acquire,
    release,
    async keepWarm(build, signal) {
      const before = warm;
      warm = build;
      if (before && before !== build) {
        drop(before);
      }
      if (build) {
        release(await acquire(build, signal));
      }
    },
    cutShort() {
      for (const { session } of entries) {
        session?.cutShort();
      }
    },
    standing() {
      return [...Map.groupBy(entries, ({ build }) => build)].map(([build, some]) => ({
        build,
        states: some.map(({ state }) => state),
        memoryBytes: sum(some.filter(({ session }) => session?.alive).map(bytesOf)),
      }));
    },
    describe(build) {
      const known = build.info ?? infos.get(build);
      if (known) {
        return Promise.resolve(known);
      }
      // One after the other: each is one more engine in memory.
      const described = describing.then(async () => infos.get(build) ?? (await learnInfo(build)));
      describing = described.catch(() => {});
      return described;
    },
    async [Symbol.asyncDispose]() {
      const reason = new KibitzError("shutting_down", "The engines are being closed.");
      closed.abort(reason);
      for (const build of new Set([...entries].map((entry) => entry.build))) {
        for (const { reject } of waiters(build).splice(0)) {
          reject(reason);
        }
      }
      entries.forEach(close);
      if (entries.size > 0) {
        await emptied.promise;
      }
    },
  };

  async function learnInfo(build: EngineBuild): Promise<EngineInfo> {
    const session = await acquire(build, closed.signal);
    entriesIn("busy")
      .filter((entry) => entry.session === session)
      .forEach(close);
    return session.info;
  }
}

/**
 * Starts an engine whose files are those that were found. They are compared before the engine runs, and again before a
 * caller gets it: an engine that was replaced in between may have run in its sandbox, but never answers.
 */
async function startUnchanged(
  backend: EngineBackend,
  build: EngineBuild,
  signal: AbortSignal,
): Promise<EngineSession> {
  const unchanged = build.assertUnchanged();
  // Mostly there is nothing to wait for, and the engine loads before this process goes on.
  if (unchanged) {
    await unchanged;
    signal.throwIfAborted();
  }
  // Read while the engine loads, which takes longer.
  const genuine = build.assertGenuine();
  genuine.catch(() => {});
  const session = await backend.start(build, signal);
  try {
    await genuine;
    await build.assertUnchanged();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

function createByBuild<Value>(create: () => Value): (build: EngineBuild) => Value {
  const values = new Map<EngineBuild, Value>();
  return (build) => {
    const value = values.get(build) ?? create();
    values.set(build, value);
    return value;
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
