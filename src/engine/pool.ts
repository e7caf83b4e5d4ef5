import type { Log } from "../log.ts";
import type { EngineBackend, EngineBuild, EngineInfo, EngineSession } from "./engine.ts";

/** Running engines, lent one at a time. */
export interface EnginePool extends AsyncDisposable {
  /** An idle engine of the build, or a new one. @throws EngineFailure, or the reason of `signal`. */
  lend(build: EngineBuild, signal: AbortSignal): Promise<EngineSession>;
  /** Takes an engine back. A dead one is forgotten. */
  giveBack(session: EngineSession): void;
  /** What the build says of itself. Starts an engine if none of this build has run yet. */
  describe(build: EngineBuild): Promise<EngineInfo>;
}

/**
 * @param idleMax most engines that are kept idle. How many run at a time is the scheduler's business.
 */
export function createPool(backends: readonly EngineBackend[], idleMax: number, log: Log): EnginePool {
  /** Longest idle first. */
  let idle: EngineSession[] = [];
  const running = new Set<EngineSession>();
  const starting = new Set<Promise<unknown>>();
  const infos = new Map<EngineBuild, Promise<EngineInfo>>();
  const closed = new AbortController();

  function start(build: EngineBuild, signal: AbortSignal): Promise<EngineSession> {
    const session = startNow(build, signal);
    const forget = () => starting.delete(session);
    starting.add(session);
    session.then(forget, forget);
    return session;
  }

  async function startNow(build: EngineBuild, signal: AbortSignal): Promise<EngineSession> {
    closed.signal.throwIfAborted();
    const backend = backends.find(({ path }) => path === build.path);
    if (backend === undefined) {
      throw new Error(`no backend for the path ${build.path}`);
    }
    const startedAt = performance.now();
    const session = await backend.start(
      build,
      signal === closed.signal ? signal : AbortSignal.any([signal, closed.signal]),
    );
    if (closed.signal.aborted) {
      await session[Symbol.asyncDispose]();
      throw closed.signal.reason;
    }
    running.add(session);
    infos.set(build, Promise.resolve(session.info));
    log.debug(
      { engine: build.id, path: build.path, ms: Math.round(performance.now() - startedAt) },
      "engine started",
    );
    void session.exited.then((failure) => {
      running.delete(session);
      idle = idle.filter((other) => other !== session);
      if (failure) {
        log.warn(
          { engine: build.id, path: build.path, kind: failure.kind, error: failure.message },
          "engine failed",
        );
      }
    });
    return session;
  }

  const pool: EnginePool = {
    async lend(build, signal) {
      // The one that was used last is the warmest.
      const at = idle.findLastIndex((session) => session.build === build && session.alive);
      const [session] = at < 0 ? [] : idle.splice(at, 1);
      return session ?? start(build, signal);
    },
    giveBack(session) {
      if (!session.alive || closed.signal.aborted) {
        return;
      }
      idle.push(session);
      if (idle.length > idleMax) {
        void idle.shift()?.[Symbol.asyncDispose]();
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
      closed.abort(new Error("the engines are being closed"));
      await Promise.allSettled([
        ...starting,
        ...[...running].map((session) => session[Symbol.asyncDispose]()),
      ]);
    },
  };
  return pool;
}
