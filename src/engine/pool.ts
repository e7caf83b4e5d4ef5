import { EventEmitter } from "node:events";
import { setTimeout } from "node:timers/promises";
import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import { countFailure, createEngineTally, type EngineTally } from "./counters.ts";
import {
  type EngineBackend,
  type EngineBuild,
  EngineFailure,
  type EngineInfo,
  type EngineSession,
  isFromOutside,
} from "./engine.ts";
import { createEngineMemory } from "./memory.ts";
import { type Backoff, createBackoff, shareStart, startGenuine } from "./starts.ts";

/** Running engines, lent one at a time. */
export interface EnginePool extends AsyncDisposable {
  readonly tally: EngineTally;
  /** Whether engines of the build can be started. While none can, it is tried now and again. */
  available(build: EngineBuild): boolean;
  /** Emits `change` when a build is available no more, or again. */
  readonly changes: EventEmitter<{ change: [EngineBuild] }>;
  /** An idle engine of the build, or a new one. @throws EngineFailure, or the reason of `signal`. */
  lend(build: EngineBuild, signal: AbortSignal): Promise<EngineSession>;
  /** Takes an engine back. A dead one is forgotten, a worn one replaced when it is next needed. */
  giveBack(session: EngineSession): void;
  /**
   * From now on there is always an engine of the build, as far as memory allows: others are retired before it, and one
   * that is gone is replaced at once.
   */
  keepWarm(build: EngineBuild): void;
  /** Ends all searches under way as if their time were up. */
  cutShort(): void;
  /** What the build says of itself. Starts an engine if none of this build has run yet. */
  describe(build: EngineBuild): Promise<EngineInfo>;
}

export interface EnginePoolOptions {
  readonly backends: readonly EngineBackend[];
  /** Most engines of one build that are kept idle. How many run at a time is the scheduler's business. */
  readonly idleMax: number;
  /** Bytes that all engines together may take. Busy ones are never ended for it. */
  readonly memoryMaxBytes: number;
  readonly log: Log;
  /** Searches after which an engine is replaced. */
  readonly searchesMax?: number;
}

/** Asking the system for an engine's memory costs as much as a tenth of a shallow search. */
const searchesBetweenLooks = 128;

/** Growth over what it took when it was first given back, after which an engine is replaced. */
const growthMaxBytes = 256e6;

/** Starts of one build that fail one after the other before it counts as unavailable: as many as one search tries. */
const failuresMax = 3;

/** Longest that a caller waits for the next try to start an engine, in milliseconds. */
const backoffPatienceMs = 1000;

export function createPool(options: EnginePoolOptions): EnginePool {
  const { backends, idleMax, memoryMaxBytes, log, searchesMax = 100_000 } = options;
  /** Longest idle first. */
  let idle: EngineSession[] = [];
  const running = new Set<EngineSession>();
  const starting = new Set<Promise<unknown>>();
  /** Those of them that take memory already. */
  const loading = new Set<{ readonly build: EngineBuild }>();
  const ending = new Set<Promise<unknown>>();
  const infos = new Map<EngineBuild, Promise<EngineInfo>>();
  const backoffs = new Map<EngineBuild, Backoff>();
  const lost = new Set<EngineBuild>();
  let kept: EngineBuild | undefined;
  /** Builds of which engines are started until there is one, and the one that is being started, unless it is promised. */
  const reviving = new Map<EngineBuild, Promise<EngineSession> | undefined>();
  const changes: EnginePool["changes"] = new EventEmitter();
  const firstBytes = new WeakMap<EngineSession, number>();
  const memory = createEngineMemory();
  const tally = createEngineTally();
  const closed = new AbortController();

  function start(build: EngineBuild, signal: AbortSignal): Promise<EngineSession> {
    const session = startNow(build, signal);
    const forget = () => {
      starting.delete(session);
      lookAfterKept();
    };
    starting.add(session);
    session.then(forget, forget);
    return session;
  }

  async function startNow(build: EngineBuild, caller: AbortSignal): Promise<EngineSession> {
    closed.signal.throwIfAborted();
    const backend = backends.find(({ path }) => path === build.path);
    if (backend === undefined) {
      throw new Error(`no backend for the path ${build.path}`);
    }
    const signal = caller === closed.signal ? caller : AbortSignal.any([caller, closed.signal]);
    const backoff = backoffs.get(build) ?? createBackoff();
    backoffs.set(build, backoff);
    const { waitMs } = backoff;
    if (waitMs > backoffPatienceMs) {
      // Who waits holds a slot, which another build's caller could have.
      throw new EngineFailure("backing_off", "the last engines of this build could not be started", {
        retryAfterMs: Math.ceil(waitMs),
      });
    }
    if (waitMs > 0) {
      await setTimeout(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    retireFor(memory.expected(build));
    const load = { build };
    loading.add(load);
    const startedAt = performance.now();
    let session: EngineSession;
    try {
      session = await startGenuine(backend, build, signal);
    } catch (error) {
      loading.delete(load);
      if (!signal.aborted) {
        // One that was killed while it started says nothing of the next one.
        const mostMs =
          error instanceof EngineFailure && isFromOutside(error) ? backoffPatienceMs / 2 : undefined;
        backoff.failed(startedAt, mostMs);
        log.warn(
          { engine: build.id, path: build.path, error: messageOf(error) },
          "engine could not be started",
        );
        if (backoff.failures >= failuresMax) {
          lose(build);
        }
      }
      throw error;
    }
    loading.delete(load);
    if (closed.signal.aborted) {
      await session[Symbol.asyncDispose]();
      throw closed.signal.reason;
    }
    backoff.succeeded();
    find(build);
    running.add(session);
    infos.set(build, Promise.resolve(session.info));
    tally.of(build).started++;
    const ms = Math.round(performance.now() - startedAt);
    log.debug({ engine: build.id, path: build.path, ms }, "engine started");
    void session.exited.then((failure) => {
      running.delete(session);
      idle = idle.filter((other) => other !== session);
      lookAfterKept();
      if (failure) {
        const { kind, message: error } = failure;
        countFailure(tally.of(build), kind);
        log.warn({ engine: build.id, path: build.path, kind, error }, "engine failed");
      }
    });
    return session;
  }

  function lose(build: EngineBuild): void {
    if (lost.has(build)) {
      return;
    }
    lost.add(build);
    log.warn({ engine: build.id, path: build.path }, "engine is unavailable");
    changes.emit("change", build);
    void revive(build);
  }

  function find(build: EngineBuild): void {
    if (lost.delete(build)) {
      log.info({ engine: build.id, path: build.path }, "engine is available again");
      changes.emit("change", build);
    }
  }

  /**
   * Starts engines of a build that is lost or missed until one is there. Callers go elsewhere when they see what is
   * unavailable: nobody would find out that it is there again.
   */
  async function revive(build: EngineBuild): Promise<void> {
    if (reviving.has(build)) {
      return;
    }
    while ((lost.has(build) || isMissed(build)) && !closed.signal.aborted) {
      const started = start(build, closed.signal);
      reviving.set(build, started);
      try {
        const session = await started;
        if (reviving.get(build) === started) {
          giveBack(session);
        }
      } catch (error) {
        reviving.set(build, undefined);
        const retryAfterMs = error instanceof EngineFailure ? error.retryAfterMs : undefined;
        await setTimeout(retryAfterMs ?? 0, undefined, { signal: closed.signal }).catch(() => {});
      }
    }
    reviving.delete(build);
  }

  /** In a moment: a search whose engine has died starts the next one itself. */
  function lookAfterKept(): void {
    if (kept && !closed.signal.aborted && !hasEngineOf(kept)) {
      setImmediate(() => {
        if (kept && isMissed(kept)) {
          void revive(kept);
        }
      });
    }
  }

  function hasEngineOf(build: EngineBuild): boolean {
    return loading.values().some((load) => load.build === build) || countOf(build) > 0;
  }

  function countOf(build: EngineBuild): number {
    let count = 0;
    for (const session of running) {
      count += Number(session.build === build && session.alive);
    }
    return count;
  }

  /** The build is to be kept, there is no engine of it, and there is room for one when idle ones of others go. */
  function isMissed(build: EngineBuild): boolean {
    if (build !== kept || hasEngineOf(build)) {
      return false;
    }
    const stay = [...running].filter((session) => !idle.includes(session));
    const isAlone = stay.length === 0 && loading.size === 0;
    return isAlone || memory.of(stay) + loadingBytes() + memory.expected(build) <= memoryMaxBytes;
  }

  function loadingBytes(): number {
    return loading.values().reduce((sum, { build }) => sum + memory.expected(build), 0);
  }

  /** Retires idle engines, longest idle first, the last of the kept build last, until there is room for so many bytes more. */
  function retireFor(bytes: number): void {
    let sum = memory.of(running) + loadingBytes() + bytes;
    while (sum > memoryMaxBytes) {
      const keep = kept && countOf(kept) === 1 ? kept : undefined;
      const at = Math.max(
        0,
        idle.findIndex(({ build }) => build !== keep),
      );
      const [session] = idle.splice(at, 1);
      if (session === undefined) {
        return;
      }
      sum -= session.memoryBytes() ?? memory.expected(session.build);
      retire(session);
    }
  }

  /** Retires what is idle longest of a build, if more of it are idle than may be. */
  function retireExcess(build: EngineBuild): void {
    const same = idle.filter((session) => session.build === build);
    const [longest] = same;
    if (longest && same.length > idleMax) {
      idle.splice(idle.indexOf(longest), 1);
      retire(longest);
    }
  }

  function retire(session: EngineSession): void {
    tally.of(session.build).retired++;
    end(session);
  }

  function end(session: EngineSession): void {
    // Out of the sum at once: its memory comes back in a moment.
    running.delete(session);
    const ended = Promise.resolve(session[Symbol.asyncDispose]());
    const forget = () => ending.delete(ended);
    ending.add(ended);
    ended.then(forget, forget);
  }

  /** Asked at the first search and then now and again. */
  function isWorn(session: EngineSession): boolean {
    const bytes = session.memoryBytes();
    const first = firstBytes.get(session) ?? bytes;
    if (bytes === undefined || first === undefined) {
      return session.searches >= searchesMax;
    }
    firstBytes.set(session, first);
    return session.searches >= searchesMax || bytes - first > growthMaxBytes;
  }

  function giveBack(session: EngineSession): void {
    if (!session.alive || closed.signal.aborted) {
      return;
    }
    const look = session.searches % searchesBetweenLooks === 1;
    if (look && isWorn(session)) {
      tally.of(session.build).recycled++;
      end(session);
      return;
    }
    idle.push(session);
    if (idle.length > idleMax) {
      retireExcess(session.build);
    }
    if (look) {
      retireFor(0);
    }
    lookAfterKept();
  }

  return {
    tally,
    changes,
    available: (build) => !lost.has(build),
    async lend(build, signal) {
      const fits = (session: EngineSession) => session.build === build && session.alive;
      // The one that was used last is the warmest; one that still ends another's search comes last.
      const ready = idle.findLastIndex((session) => fits(session) && session.state === "idle");
      const at = ready < 0 ? idle.findLastIndex(fits) : ready;
      const [session] = at < 0 ? [] : idle.splice(at, 1);
      if (session) {
        return session;
      }
      const started = reviving.get(build);
      if (started) {
        // Promised to this caller: it is not given back, and nobody else gets it.
        reviving.set(build, undefined);
        return shareStart(started, signal, giveBack);
      }
      return start(build, signal);
    },
    giveBack,
    keepWarm(build) {
      kept = build;
      lookAfterKept();
    },
    cutShort() {
      for (const session of running) {
        session.cutShort();
      }
    },
    describe(build) {
      const known = infos.get(build);
      if (known) {
        return known;
      }
      const info = (async () => {
        await using session = await start(build, closed.signal);
        return session.info;
      })();
      infos.set(build, info);
      // A failure is the answer to this call, and no reason to fail the next one.
      info.catch(() => infos.delete(build));
      return info;
    },
    async [Symbol.asyncDispose]() {
      closed.abort(new KibitzError("shutting_down", "The engines are being closed."));
      await Promise.allSettled([
        ...starting,
        ...ending,
        ...[...running].map((session) => session[Symbol.asyncDispose]()),
      ]);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
