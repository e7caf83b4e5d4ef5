import type { EventEmitter } from "node:events";
import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import {
  beforeAbort,
  type EngineBackend,
  type EngineBuild,
  type EngineFailure,
  type EngineInfo,
  type EngineSession,
} from "./engine.ts";
import { createEngineMemory, createPlaces, type Manned, type Place, type PlaceState } from "./places.ts";
import { createRevivals } from "./revival.ts";
import { createStarts, type EngineEvents } from "./starts.ts";

/** Running engines, lent one at a time. */
export interface EnginePool extends AsyncDisposable {
  /** Whether engines of the build can be started. While none can, it is tried now and again. */
  available(build: EngineBuild): boolean;
  readonly changes: EventEmitter<EngineEvents>;
  /**
   * An idle engine of the build, or a new one. If the caller leaves while that starts, it is for the next one.
   *
   * @param hashMb the hash table of the search to come, in MiB: one that has it already need not make it.
   * @throws EngineFailure, or the reason of `signal`.
   */
  lend(build: EngineBuild, signal: AbortSignal, hashMb?: number): Promise<EngineSession>;
  /** Takes an engine back. A dead one is forgotten, a worn one replaced when it is next needed. */
  giveBack(session: EngineSession): void;
  /** Breaks off the starts of a build that go on although their callers have left. */
  breakOff(build: EngineBuild): void;
  /**
   * From now on there is always an engine of the build, as far as memory allows: others are retired before it, and one
   * that is gone is replaced at once.
   */
  keepWarm(build: EngineBuild): void;
  /** Ends all searches under way as if their time were up. */
  cutShort(): void;
  /** The engines that there are, by their builds. */
  standing(): readonly EngineStanding[];
  /** What the build says of itself. Starts an engine if none of this build has run yet. */
  describe(build: EngineBuild): Promise<EngineInfo>;
}

/** The engines of a build. */
export interface EngineStanding {
  readonly build: EngineBuild;
  /** What each of them does. */
  readonly states: readonly PlaceState["kind"][];
  /** Of those that run, together. */
  readonly memoryBytes: number;
}

interface EnginePoolOptions {
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

/** A start whose caller has left, and that nobody has taken over. */
interface LeftStart {
  readonly build: EngineBuild;
  readonly started: Promise<EngineSession>;
  readonly broken: AbortController;
}

export function createPool(options: EnginePoolOptions): EnginePool {
  const { backends, idleMax, memoryMaxBytes, log, searchesMax = 100_000 } = options;
  const places = createPlaces();
  const infos = new Map<EngineBuild, Promise<EngineInfo>>();
  let describing: Promise<unknown> = Promise.resolve();
  /** What engines took when they were first looked at. */
  const firstBytes = new WeakMap<EngineSession, number>();
  let kept: EngineBuild | undefined;
  const memory = createEngineMemory();
  const starts = createStarts(backends, log);
  const left: LeftStart[] = [];
  const closed = new AbortController();
  const { revive, claim } = createRevivals({
    needs: (build) => !starts.available(build) || isMissed(build),
    start,
    giveBack,
    closed: closed.signal,
  });
  starts.changes.on("change", (build) => void revive(build));

  async function start(build: EngineBuild, broken?: AbortSignal): Promise<EngineSession> {
    closed.signal.throwIfAborted();
    const signal = broken ? AbortSignal.any([broken, closed.signal]) : closed.signal;
    const place = places.add(build);
    try {
      const session = await starts.start(build, signal, () => {
        retireFor(memory.expected(build));
        places.move(place, { kind: "loading" });
      });
      if (closed.signal.aborted) {
        await session[Symbol.asyncDispose]();
        throw closed.signal.reason;
      }
      places.move(place, { kind: "lent", session });
      infos.set(build, Promise.resolve(session.info));
      void session.exited.then((failure) => forget(place, failure));
      return session;
    } catch (error) {
      places.move(place, { kind: "gone" });
      throw error;
    } finally {
      lookAfterKept();
    }
  }

  /**
   * A start for one caller. If that one leaves, it goes on for the next: to start and kill a process takes milliseconds of the
   * thread, and callers who leave at once would have one started each.
   */
  async function startFor(build: EngineBuild, caller: AbortSignal): Promise<EngineSession> {
    caller.throwIfAborted();
    const inherited = left.find((one) => one.build === build);
    if (inherited) {
      left.splice(left.indexOf(inherited), 1);
    }
    const broken = inherited?.broken ?? new AbortController();
    const started = inherited?.started ?? start(build, broken.signal);
    try {
      return await beforeAbort(started, caller);
    } catch (error) {
      if (caller.aborted) {
        leave({ build, started, broken });
      }
      throw error;
    }
  }

  function leave(start: LeftStart): void {
    left.push(start);
    const end = () => left.includes(start) && left.splice(left.indexOf(start), 1);
    start.started.then((session) => end() && giveBack(session), end);
  }

  function forget(place: Place, failure: EngineFailure | undefined): void {
    if ("session" in place.state) {
      places.move(place, { kind: "gone" });
    }
    lookAfterKept();
    if (failure) {
      const { id: engine, path } = place.build;
      log.warn({ engine, path, kind: failure.kind, error: failure.message }, "engine failed");
      starts.changes.emit("lost", place.build, failure.kind);
    }
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
    return places.loading().includes(build) || countOf(build) > 0;
  }

  function countOf(build: EngineBuild): number {
    return places.manned("lent", "idle").filter((place) => place.build === build && place.state.session.alive)
      .length;
  }

  /** The build is to be kept, there is no engine of it, and there is room for one when idle ones of others go. */
  function isMissed(build: EngineBuild): boolean {
    if (build !== kept || hasEngineOf(build)) {
      return false;
    }
    const isAlone = places.manned("lent").length === 0 && places.loading().length === 0;
    return isAlone || bytesOf(places.manned("lent")) + memory.expected(build) <= memoryMaxBytes;
  }

  /** What these take, and what is about to be taken by those that load. */
  function bytesOf(some: readonly Manned[]): number {
    const expected = places.loading().reduce((sum, build) => sum + memory.expected(build), 0);
    return memory.of(some.map(({ state }) => state.session)) + expected;
  }

  /** Closes idle engines, longest idle first, the last of the kept build last, until there is room for so many bytes more. */
  function retireFor(bytes: number): void {
    let sum = bytesOf(places.manned("lent", "idle")) + bytes;
    while (sum > memoryMaxBytes) {
      const keep = kept && countOf(kept) === 1 ? kept : undefined;
      const idle = places.manned("idle");
      const place = idle.find(({ build }) => build !== keep) ?? idle[0];
      if (place === undefined) {
        return;
      }
      sum -= place.state.session.memoryBytes() ?? memory.expected(place.build);
      close(place);
    }
  }

  function close(place: Manned): void {
    const { session } = place.state;
    places.move(place, { kind: "closing" });
    const gone = () => places.move(place, { kind: "gone" });
    Promise.resolve(session[Symbol.asyncDispose]()).then(gone, gone);
  }

  /** Asked at the first search and then now and again. */
  function isWorn(place: Manned): boolean {
    const { session } = place.state;
    const bytes = session.memoryBytes();
    const first = firstBytes.get(session) ?? bytes;
    if (bytes === undefined || first === undefined) {
      return session.searches >= searchesMax;
    }
    firstBytes.set(session, first);
    return session.searches >= searchesMax || bytes - first > growthMaxBytes;
  }

  function giveBack(session: EngineSession): void {
    const place = places.manned("lent").find(({ state }) => state.session === session);
    if (place === undefined || !session.alive || closed.signal.aborted) {
      return;
    }
    const look = session.searches % searchesBetweenLooks === 1;
    if (look && isWorn(place)) {
      starts.changes.emit("lost", place.build, "worn");
      close(place);
      return;
    }
    places.move(place, { kind: "idle", session });
    const [longest, ...others] = places.manned("idle").filter(({ build }) => build === place.build);
    if (longest && others.length >= idleMax) {
      close(longest);
    }
    if (look) {
      retireFor(0);
    }
    lookAfterKept();
  }

  /** One that is ready before one that is still being cleaned; then one with such a table; then the warmest, used last. */
  function bestOf(build: EngineBuild, hashMb: number): Manned | undefined {
    const idle = places.manned("idle").filter((place) => place.build === build && place.state.session.alive);
    const ready = idle.filter(({ state }) => state.session.state === "idle");
    const some = ready.length > 0 ? ready : idle;
    return some.findLast(({ state }) => state.session.hashMb === hashMb) ?? some.at(-1);
  }

  return {
    changes: starts.changes,
    available: starts.available,
    async lend(build, signal, hashMb = build.settings.hashMb) {
      const place = bestOf(build, hashMb);
      if (place) {
        const { session } = place.state;
        places.move(place, { kind: "lent", session });
        return session;
      }
      return claim(build, signal) ?? startFor(build, signal);
    },
    giveBack,
    breakOff(build) {
      for (const one of left) {
        if (one.build === build) {
          one.broken.abort();
        }
      }
    },
    keepWarm(build) {
      kept = build;
      lookAfterKept();
    },
    standing() {
      const byBuild = Map.groupBy(places.all(), ({ build }) => build);
      return [...byBuild].map(([build, some]) => ({
        build,
        states: some.map(({ state }) => state.kind),
        memoryBytes: memory.of(some.flatMap(({ state }) => ("session" in state ? state.session : []))),
      }));
    },
    cutShort() {
      for (const { state } of places.manned("lent", "idle")) {
        state.session.cutShort();
      }
    },
    describe(build) {
      const known = infos.get(build);
      if (known) {
        return known;
      }
      // One after the other: each is an engine more, of which nobody has made room.
      const info = describing.then(async () => {
        await using session = await start(build);
        return session.info;
      });
      describing = info.catch(() => {});
      infos.set(build, info);
      // A failure is the answer to this call, and no reason to fail the next one.
      info.catch(() => infos.delete(build));
      return info;
    },
    async [Symbol.asyncDispose]() {
      closed.abort(new KibitzError("shutting_down", "The engines are being closed."));
      places.manned("lent", "idle").forEach(close);
      await places.whenEmpty();
    },
  };
}
