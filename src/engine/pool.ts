import { EventEmitter } from "node:events";
import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import { outsideRequests } from "../request/owner.ts";
import { after, every, now, soon, type Timer } from "../time/time.ts";
import { beginSpan } from "../tracing/spans.ts";
import {
  beforeAbort,
  type EngineBackend,
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type FailureKind,
} from "./engine.ts";

export type EnginePool = ReturnType<typeof createPool>;

export interface EngineEvents {
  /** Emitted when a build becomes unavailable, or becomes available again. */
  change: [EngineBuild];
  /** The number is the duration of the start in seconds. */
  started: [EngineBuild, number];
  lost: [EngineBuild, FailureKind];
}

type EngineActivity = "starting" | "busy" | "idle";

export interface EngineStatus {
  readonly build: EngineBuild;
  readonly available: boolean;
  readonly states: readonly EngineActivity[];
  readonly memoryBytes: number;
}

interface EnginePoolOptions {
  /** Starts an engine with the backend that has found the build. */
  readonly start: EngineBackend["start"];
  /** The memory limit for all engines together. To free memory, idle engines are closed, but never busy engines. */
  readonly memoryMaxBytes: number;
  readonly log: Log;
}

/** After this number of failed starts in a row, a build is unavailable. */
const failuresMax = 3;

/**
 * The pause after a failed start: 0.1 s, four times longer after each further failure in a row. The pause is at most 10 s,
 * because a start may hang for 15 s with the default hash, and a working build must be available again within 30 s.
 */
const pauseMs = (failures: number) => Math.min(10_000, 100 * 4 ** (failures - 1));

const instancesMax = ({ launch }: EngineBuild) => launch?.instances ?? Number.POSITIVE_INFINITY;

/**
 * If no search waits for the memory of an engine, the engine is stopped only after it has been idle for this time. Otherwise,
 * each search of another build than `warm` could cost two engine starts.
 */
const idleMinMs = 5000;

/** The pool starts missing engines and stops surplus engines this often, so that no state of the pool depends on an event that may never come. */
const checkEveryMs = 1000;

/**
 * The typical memory of an engine. Measured after a search of Stockfish 19 in WebAssembly with 16 MiB of hash. Native engines
 * need less memory.
 */
const typicalBytes = { full: 540e6, lite: 150e6 } as const;

interface Entry {
  readonly build: EngineBuild;
  state: EngineActivity;
  session: EngineSession | undefined;
  /** When the engine became idle, by `now()`. */
  idleSince: number;
  /** True if the engine has ended a search. */
  hasSearched: boolean;
  readonly abort: AbortController;
}

interface BuildState {
  /** Callers that wait for an engine, longest wait first. */
  readonly waiters: PromiseWithResolvers<EngineSession>[];
  /** The number of failed starts in a row. Starts that fail at the same time are counted once. */
  failures: number;
  /** The number of engines in a row that started, and then failed before their first search, for example because of a flood of output. */
  idleFailures: number;
  /** The timer of the pause after a failed start. */
  pause: Timer | undefined;
}

export function createPool({ start, memoryMaxBytes, log }: EnginePoolOptions) {
  /** Sorted by idle time, longest first: an entry moves to the end when its engine becomes idle. */
  const entries = new Set<Entry>();
  const lives = new Set<Promise<void>>();
  const builds = new Map<EngineBuild, BuildState>();
  const changes = new EventEmitter<EngineEvents>();
  /** The build that always has a running engine if memory allows. */
  let warm: EngineBuild | undefined;
  /** The error for callers after the pool was closed. */
  let closed: KibitzError | undefined;

  function stateOf(build: EngineBuild): BuildState {
    const state = builds.get(build) ?? { waiters: [], failures: 0, idleFailures: 0, pause: undefined };
    builds.set(build, state);
    return state;
  }

  const isAvailable = (build: EngineBuild) =>
    build.unavailableReason === undefined && stateOf(build).failures < failuresMax;
  const entriesIn = (...states: readonly EngineActivity[]) =>
    [...entries].filter(({ state }) => states.includes(state));
  const entriesOf = (build: EngineBuild, state?: EngineActivity) =>
    [...entries].filter((one) => one.build === build && one.state === (state ?? one.state));

  /**
   * Starts engines for waiting callers and for the build `warm`. If the build is unavailable, also starts one engine, to check
   * whether the build works again. A running engine of the build does not show that the next start will succeed.
   */
  function startMissing(build: EngineBuild): void {
    const { waiters, pause } = stateOf(build);
    if (closed || pause || build.unavailableReason !== undefined) {
      return;
    }
    const needsOne = !isAvailable(build) || (build === warm && !isRunning(build) && fitsIntoMemory(build));
    const wanted = Math.max(waiters.length, Number(needsOne)) - entriesOf(build, "starting").length;
    const missing = Math.min(wanted, instancesMax(build) - entriesOf(build).length);
    for (let count = 0; count < missing; count++) {
      const abort = new AbortController();
      const entry: Entry = {
        build,
        state: "starting",
        session: undefined,
        idleSince: 0,
        hasSearched: false,
        abort,
      };
      entries.add(entry);
      const life = outsideRequests(() => live(entry)).finally(() => lives.delete(life));
      lives.add(life);
    }
  }

  /**
   * False if every engine of the build has been killed, even if the system has not reported the end of the process. True if the
   * report of this end will begin a pause, so that no engine starts before the pause.
   */
  function isRunning(build: EngineBuild): boolean {
    const willPause = (entry: Entry) => isUnused(entry) && stateOf(build).idleFailures > 0;
    return entriesOf(build).some(
      (entry) => entry.state === "starting" || entry.session?.alive || willPause(entry),
    );
  }

  /** True if the engine is idle and has never searched. If such engines fail again and again, their starts are paused. */
  const isUnused = ({ state, hasSearched }: Entry) => state === "idle" && !hasSearched;

  function replenish(): void {
    for (const build of builds.keys()) {
      startMissing(build);
    }
  }

  /** Starts an engine, and waits until the engine has ended. Never rejects. */
  async function live(entry: Entry): Promise<void> {
    const { build } = entry;
    const { signal } = entry.abort;
    const begunAt = now();
    try {
      await build.assertUnchanged();
      signal.throwIfAborted();
      freeMemoryFor(build);
      const session = await startGenuine(start, build, signal);
      if (signal.aborted) {
        await session[Symbol.asyncDispose]();
        return;
      }
      entry.session = session;
      onStarted(build, begunAt);
      offer(entry);
      const failure = await session.exited;
      entries.delete(entry);
      if (failure) {
        const { id: engine, path } = build;
        log.warn({ engine, path, kind: failure.kind, error: failure.message }, "engine failed");
        changes.emit("lost", build, failure.kind);
        if (isUnused(entry)) {
          const state = stateOf(build);
          // Start the first replacement at once: somebody may have killed the engine.
          if (state.idleFailures > 0) {
            pauseStarts(build, state.idleFailures);
          }
          state.idleFailures++;
        }
      }
    } catch (error) {
      entries.delete(entry);
      if (!signal.aborted) {
        onStartFailed(build, error);
      }
    }
    // Start replacements later, so that the retry of a failed search starts the next engine in the trace of the search.
    soon(replenish);
  }

  function onStarted(build: EngineBuild, begunAt: number): void {
    const { id: engine, path } = build;
    const ms = now() - begunAt;
    log.debug({ engine, path, ms: Math.round(ms) }, "engine started");
    const wasAvailable = isAvailable(build);
    stateOf(build).failures = 0;
    if (!wasAvailable) {
      log.info({ engine, path }, "engine is available again");
      changes.emit("change", build);
    }
    changes.emit("started", build, ms / 1000);
    const attributes = { "kibitz.engine": engine, "kibitz.path": path };
    beginSpan("engine start", { startTime: begunAt, attributes })?.end();
  }

  /** Starts no engine of the build for a while. */
  function pauseStarts(build: EngineBuild, failures: number): void {
    const state = stateOf(build);
    state.pause ??= after(pauseMs(failures), () => {
      state.pause = undefined;
      startMissing(build);
    });
  }

  /**
   * Callers continue to wait, because the next start may succeed. If the build becomes unavailable, the callers get the error.
   */
  function onStartFailed(build: EngineBuild, error: unknown): void {
    const { id: engine, path } = build;
    const state = stateOf(build);
    const failure = failureFrom(error);
    const message = failure instanceof Error ? failure.message : String(failure);
    log.warn({ engine, path, error: message }, "engine could not be started");
    changes.emit("lost", build, "no_start");
    if (state.pause === undefined) {
      state.failures++;
      pauseStarts(build, state.failures);
      if (state.failures === failuresMax) {
        log.warn({ engine, path }, "engine is unavailable");
        changes.emit("change", build);
      }
    }
    if (!isAvailable(build) || !(failure instanceof EngineFailure)) {
      for (const { reject } of state.waiters.splice(0)) {
        reject(failure);
      }
    }
  }

  /** Gives an engine to the caller that has waited longest. If no caller waits, the engine becomes idle. */
  function offer(entry: Entry): void {
    const { build, session } = entry;
    const waiter = stateOf(build).waiters.shift();
    if (waiter && session) {
      entry.state = "busy";
      waiter.resolve(session);
      return;
    }
    entry.state = "idle";
    entry.idleSince = now();
    entries.delete(entry);
    entries.add(entry);
  }

  function close(entry: Entry): void {
    entries.delete(entry);
    entry.abort.abort(closed);
    void entry.session?.[Symbol.asyncDispose]();
  }

  function bytesOf({ build, session }: Entry): number {
    return session?.memoryBytes() ?? expectedBytes(build);
  }

  /** Assumes that a new engine needs as much memory as the largest running engine of the build. */
  function expectedBytes(build: EngineBuild): number {
    const running = entriesOf(build).map(({ session }) => session?.memoryBytes() ?? 0);
    const described = (build.launch?.memoryMb ?? 0) * 1e6;
    return Math.max(described, ...running) || typicalBytes[build.net];
  }

  /** True if one more engine of the build may be started now. */
  function mayGrow(build: EngineBuild): boolean {
    return entriesOf(build).length < instancesMax(build) && fitsIntoMemory(build);
  }

  /** True if a new engine fits into memory after all long idle engines are closed. One engine is always allowed. */
  function fitsIntoMemory(build: EngineBuild): boolean {
    const inUse = [...entries].filter((entry) => !isLongIdle(entry));
    return inUse.length === 0 || sum(inUse.map(bytesOf)) + expectedBytes(build) <= memoryMaxBytes;
  }

  function isLongIdle({ state, idleSince }: Entry): boolean {
    return state === "idle" && now() - idleSince >= idleMinMs;
  }

  /** Frees memory for an engine of the build that is being started. */
  function freeMemoryFor(build: EngineBuild): void {
    closeUntilFits(entriesIn("idle").filter((entry) => entry.build !== build));
  }

  /**
   * Closes idle engines, longest idle first, until all engines fit into memory, with those that are starting. Closes engines of
   * the build `warm` last. One engine is always allowed.
   */
  function closeUntilFits(idle: readonly Entry[]): void {
    let bytes = sum([...entries].map(bytesOf));
    const isWarm = ({ build }: Entry) => Number(build === warm);
    for (const entry of idle.toSorted((a, b) => isWarm(a) - isWarm(b))) {
      if (bytes <= memoryMaxBytes || entries.size === 1) {
        return;
      }
      bytes -= bytesOf(entry);
      close(entry);
    }
  }

  /** Returns an idle engine or starts an engine. Throws an EngineFailure of the kind `no_start` if several starts fail. */
  async function acquire(build: EngineBuild, signal: AbortSignal): Promise<EngineSession> {
    if (closed) {
      throw closed;
    }
    signal.throwIfAborted();
    // Prefer the engine that has been idle longest, because its cleaning has most likely ended.
    const idle = entriesOf(build, "idle").find(({ session }) => session?.alive);
    if (idle?.session) {
      idle.state = "busy";
      return idle.session;
    }
    const { waiters, failures } = stateOf(build);
    if (!isAvailable(build)) {
      const retryAfterMs = pauseMs(failures);
      const message = "the last engines of this build could not be started";
      throw new EngineFailure("no_start", message, { retryAfterMs });
    }
    const waiter = Promise.withResolvers<EngineSession>();
    waiters.push(waiter);
    startMissing(build);
    try {
      return await beforeAbort(waiter.promise, signal);
    } catch (error) {
      if (waiters.includes(waiter)) {
        waiters.splice(waiters.indexOf(waiter), 1);
      } else {
        // Release the engine if the caller gave up at the same time.
        waiter.promise.then(giveBack, () => {});
      }
      throw error;
    }
  }

  /** Releases an engine after a search. */
  function release(session: EngineSession): void {
    const entry = busyEntryOf(session);
    if (entry && session.alive) {
      entry.hasSearched = true;
      stateOf(entry.build).idleFailures = 0;
    }
    giveBack(session);
  }

  function giveBack(session: EngineSession): void {
    const entry = busyEntryOf(session);
    if (entry && session.alive && !closed) {
      offer(entry);
      replenish();
    }
  }

  const busyEntryOf = (session: EngineSession) => entriesIn("busy").find((one) => one.session === session);

  const checking = every(checkEveryMs, () => {
    // Searches that ran at the same time may have needed more engines than fit into memory.
    closeUntilFits(entriesIn("idle").filter(isLongIdle));
    replenish();
  }).unref();

  return {
    changes,
    available: isAvailable,
    /** True if an engine of the build is idle, or if one more engine may be started. */
    hasRoom: (build: EngineBuild) =>
      entriesOf(build, "idle").some(({ session }) => session?.alive) || mayGrow(build),
    acquire,
    release,
    /** Keeps an engine of the build running if memory allows. Resolves when an engine is running. */
    async keepWarm(build: EngineBuild, signal: AbortSignal): Promise<void> {
      warm = build;
      giveBack(await acquire(build, signal));
    },
    cutShort(): void {
      for (const { session } of entries) {
        session?.cutShort();
      }
    },
    status(build: EngineBuild): EngineStatus {
      const its = entriesOf(build);
      return {
        build,
        available: isAvailable(build),
        states: its.map(({ state }) => state),
        memoryBytes: sum(its.filter(({ session }) => session?.alive).map(bytesOf)),
      };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      const reason = new KibitzError("shutting_down", "The engines are being closed.");
      closed = reason;
      checking.cancel();
      for (const { waiters, pause } of builds.values()) {
        pause?.cancel();
        for (const { reject } of waiters.splice(0)) {
          reject(reason);
        }
      }
      entries.forEach(close);
      await Promise.all(lives);
    },
  };
}

/** Checks the content of WebAssembly files while the engine loads, to save time. */
async function startGenuine(
  start: EngineBackend["start"],
  build: EngineBuild,
  signal: AbortSignal,
): Promise<EngineSession> {
  const genuine = build.assertGenuine();
  genuine.catch(() => {});
  const session = await start(build, signal);
  try {
    await genuine;
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

/** An error of the system, such as too many open files, is a failed start. Any other error is a bug and is not retried. */
function failureFrom(error: unknown): unknown {
  const isOfSystem = error instanceof Error && "syscall" in error;
  return isOfSystem ? new EngineFailure("no_start", error.message, { cause: error }) : error;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
