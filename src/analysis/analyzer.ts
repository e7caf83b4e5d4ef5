import {
  type EngineBuild,
  EngineFailure,
  type SearchDone,
  type SearchEvent,
  type SearchJob,
} from "../engine/engine.ts";
import type { SearchWithRetry } from "../engine/search-with-retry.ts";
import type { CacheTier, Meter } from "../metrics/meter.ts";
import type { AnswerCache, AnswerStore } from "../storage/ports.ts";
import { now, turn } from "../time/time.ts";
import { beginSpan, inSpan } from "../tracing/spans.ts";
import {
  type Analysis,
  analysisFromResult,
  analysisOfFinishedGame,
  cacheKeyOf,
  flightKeyOf,
  isWorthSharing,
  isWorthStoring,
  restrictionOf,
  resultFromEvent,
  type SearchResult,
  type ValidatedRequest,
} from "./analysis.ts";
import { asItIs, type LookUpTables } from "./apply-tablebase.ts";
import { type CoalescerCounters, createCoalescer, type SharedWork } from "./coalesce.ts";
import { createRunTimes, createSearchCaller, type SearchCaller } from "./engine-time.ts";
import { errorFromFailure } from "./error-from-failure.ts";
import { createExpectedTimes, type ExpectedTimes, type SearchTime } from "./expected-time.ts";
import type { Followed, SharedEvent, SharedState, Sharing, Terms } from "./flight.ts";
import { createQueuePlaces } from "./queue-places.ts";
import type { ReadQueuePosition, Scheduler, Slot } from "./scheduler.ts";

/** Equal requests share one search. No search runs if the game is over or the result is cached or stored. */
export interface Analyzer {
  /** Returns the final state. Throws the abort reason of `signal`. All waiting flows get equal engine time. */
  analyze(request: ValidatedRequest, flow: string, signal: AbortSignal, terms?: Terms): Promise<Analysis>;
  /** Yields each new queue position, and then a state for each iteration. Only the last state has a `stopReason`. */
  follow(
    request: ValidatedRequest,
    flow: string,
    signal: AbortSignal,
    terms?: Terms,
  ): AsyncIterable<Followed>;
  /** Returns the expected time on this machine in milliseconds. The result is at most the movetime. */
  readonly expectMs: ExpectedTimes["expect"];
  /** `movetimeMaxMs` is the time limit in milliseconds for a request without `movetimeMs`. */
  timeOf(request: ValidatedRequest, movetimeMaxMs: number): SearchTime;
  /** Counts the requests that started or joined a search. Requests with a cached result are not counted. */
  waiters(): CoalescerCounters;
}

interface AnalyzerOptions {
  readonly meter?: Pick<Meter, "search" | "lookUp"> | undefined;
  readonly search: SearchWithRetry;
  /** True if an engine of the build is idle, or if memory has room for one more engine. */
  readonly hasRoom: (build: EngineBuild) => boolean;
  readonly scheduler: Scheduler;
  /** Returns the scheduler of an engine that has slots of its own. */
  readonly ownSchedulerOf?: (build: EngineBuild) => Scheduler | undefined;
  readonly cache: AnswerCache<SearchResult>;
  readonly store?: AnswerStore<SearchResult> | undefined;
  readonly sharing?: Sharing | undefined;
  /** Default: there are no endgame tables. */
  readonly lookUpTables?: LookUpTables;
  /** The default time limit in milliseconds, if the request and `terms` have no limit. */
  readonly movetimeMaxMs: number;
  /** When this signal aborts, every search ends, and every request that waits or arrives later fails with the abort reason. */
  readonly ending?: AbortSignal | undefined;
}

/** Undefined if the result must not be cached. */
type Key = string | undefined;

export function createAnalyzer({
  search,
  hasRoom,
  scheduler,
  ownSchedulerOf = () => undefined,
  cache,
  store,
  sharing,
  lookUpTables = () => asItIs,
  meter,
  movetimeMaxMs,
  ending,
}: AnalyzerOptions): Analyzer {
  const expectedTimes = createExpectedTimes();
  const coalescer = createCoalescer<SharedEvent, SearchCaller>();
  ending?.addEventListener("abort", () => coalescer.close(ending.reason), { once: true });

  function lookUp(request: ValidatedRequest): { readonly key: Key; readonly known?: Analysis } {
    const { terminal } = request.position;
    if (terminal) {
      return { key: undefined, known: analysisOfFinishedGame(request, terminal) };
    }
    const key = cacheKeyOf(request);
    const result = key === undefined ? undefined : findStored(key, request);
    return result
      ? { key, known: analysisFromResult(result, request, { queueMs: 0, cached: true }) }
      : { key };
  }

  function findStored(key: string, request: ValidatedRequest): SearchResult | undefined {
    const found = lookIn("memory", () => cache.get(key));
    if (found) {
      meter?.lookUp("memory");
      return found;
    }
    const stored = store && isWorthStoring(request) ? lookIn("store", () => store.get(key)) : undefined;
    if (stored) {
      cache.set(key, stored);
      meter?.lookUp("store");
    }
    return stored;
  }

  function keep(key: string, request: ValidatedRequest, result: SearchResult): void {
    cache.set(key, result);
    if (isWorthStoring(request)) {
      store?.set(key, result);
    }
  }

  /** Call this if this node has no cached or stored result. `wasShared`: another node had the result. */
  function countMiss(key: Key, wasShared: boolean): void {
    if (key !== undefined) {
      meter?.lookUp(wasShared ? "shared" : undefined);
    }
  }

  function timeOf({ build, depth, nodes, multipv, movetimeMs }: ValidatedRequest, maxMs: number): SearchTime {
    const longestMs = movetimeMs ?? maxMs;
    const limits = { depth, nodes, multipv, movetimeMs: longestMs };
    return { expectedMs: expectedTimes.expect(build, limits), longestMs };
  }

  const ownTerms = (request: ValidatedRequest): Terms => ({
    ...timeOf(request, movetimeMaxMs),
    onEngineTime() {},
  });

  function prepare(
    request: ValidatedRequest,
    key: Key,
    { longestMs }: SearchTime,
    flow: string,
    isStream: boolean,
  ) {
    const flightKey = key === undefined ? undefined : flightKeyOf(key, longestMs);
    const caller = createSearchCaller(flow, isStream);
    const work = searchOf(request, longestMs, key, flightKey);
    return { caller, flightKey, work, joinedAt: now() };
  }

  function searchOf(
    request: ValidatedRequest,
    movetimeMs: number,
    key: Key,
    flightKey: string | undefined,
  ): SharedWork<SharedEvent, SearchCaller> {
    return async (publish, signal, watch) => {
      const { position, build, depth, nodes, multipv, options } = request;
      const searchMoves = restrictionOf(request);
      const job: SearchJob = { position, depth, nodes, movetimeMs, multipv, searchMoves, options };
      const askedAt = now();
      const times = createRunTimes();
      const streamed = new AbortController();
      const places = createQueuePlaces(ownSchedulerOf(build) ?? scheduler, {
        longestMs: movetimeMs,
        expectMs: () => expectedTimes.expect(build, job),
        hasRoom: () => hasRoom(build),
      });
      watch((caller) => {
        caller.joins(times);
        places.join(caller.flow);
        if (caller.isStream) {
          streamed.abort();
        }
      });

      function stateOf(event: SearchEvent, { setBack }: Slot, queueMs: number): SharedState {
        let described: SearchResult | undefined;
        const result = () => {
          described ??= resultFromEvent(event, request);
          return described;
        };
        const { depth, counters } = event.snapshot;
        return {
          kind: "state",
          result,
          depth,
          askedAt,
          queueMs,
          get engineMs() {
            return setBack.aborted ? 0 : counters.timeMs;
          },
          cached: false,
        };
      }

      const onWaiting = (readPosition: ReadQueuePosition) => publish({ kind: "waiting", readPosition });
      /** When the first engine of the current slot began. */
      let begunAt: number | undefined;
      /** The cleaning of an engine and the start of an engine are time that the request waits, and not time of the search. */
      const queueMsOf = (slot: Slot) =>
        begunAt === undefined ? slot.queueMs : Math.round(begunAt - askedAt);

      const enter = (signal: AbortSignal) =>
        inSpan("queue", { signal }, () => places.enter(signal, onWaiting));

      /** False if the build has fallen back to another one, so that another build has searched than the one in the key. */
      const isCurrent = (made: string) => made === cacheKeyOf(request);

      /** Resolves with undefined if the search was set back, and must run again. */
      async function searchIn(slot: Slot): Promise<SharedState | undefined> {
        const done = await searchHolding(slot);
        if (done === undefined) {
          return undefined;
        }
        const queueMs = queueMsOf(slot);
        // Give the engine to the next search first, because describing the result takes a while.
        await turn();
        expectedTimes.learn(build, job, done);
        meter?.search({ path: build.path, queueMs, ...done });
        const last = stateOf(done, slot, queueMs);
        if (key !== undefined && isCurrent(key) && last.result().deterministic) {
          keep(key, request, last.result());
        }
        return last;
      }

      async function searchHolding(slot: Slot): Promise<SearchDone | undefined> {
        using _ = slot;
        const either = AbortSignal.any([signal, slot.setBack]);
        const onProgress = (progress: SearchEvent) => publish(stateOf(progress, slot, queueMsOf(slot)));
        begunAt = undefined;
        slot.setBack.addEventListener("abort", times.forget, { once: true });
        const onEngine = (hasEngine: boolean) => {
          if (hasEngine) {
            begunAt ??= now();
            slot.begin();
            times.begin();
          } else {
            times.end();
          }
        };
        return await inSpan(
          "engine search",
          { signal: either, attributes: searchAttributes(build, job) },
          async (span) => {
            const searching = search(build, job, either, onProgress, onEngine);
            slot.requested();
            const done = await searching.catch((error: unknown) => {
              if (slot.setBack.aborted && !signal.aborted) {
                span?.addEvent("set back");
                return undefined;
              }
              throw error;
            });
            if (done === undefined) {
              return undefined;
            }
            span?.setAttributes({
              "kibitz.depth": done.snapshot.depth,
              "kibitz.nodes": done.snapshot.counters.nodes,
              "kibitz.engine_ms": done.snapshot.counters.timeMs,
              "kibitz.ended_by": done.endedBy,
            });
            return done;
          },
        );
      }

      try {
        if (
          sharing === undefined ||
          key === undefined ||
          flightKey === undefined ||
          !isWorthSharing(request)
        ) {
          for (;;) {
            const last = await searchIn(await enter(signal));
            if (last) {
              return last;
            }
          }
        }
        const isKeyCurrent = () => isCurrent(key);
        const flight = {
          key,
          isKeyCurrent,
          flightKey,
          enter,
          search: searchIn,
          signal,
          streamed: streamed.signal,
        };
        return await sharing.run(flight);
      } catch (error) {
        throw error instanceof EngineFailure ? errorFromFailure(error) : error;
      }
    };
  }

  /** Charges a caller that disconnects for its engine time. `last` is the last state for which the caller was charged. */
  function chargeDisconnected(caller: SearchCaller, { onEngineTime }: Terms, last?: SharedState): void {
    const engineMs = Math.max(caller.engineMs(), last?.engineMs ?? 0);
    if (last || engineMs > 0) {
      onEngineTime(engineMs);
    }
  }

  return {
    expectMs: expectedTimes.expect,
    timeOf,
    waiters: () => coalescer.counters,
    async analyze(request, flow, signal, terms = ownTerms(request)) {
      const withTables = lookUpTables(request);
      const { key, known } = lookUp(request);
      if (known) {
        return withTables(known);
      }
      const { caller, flightKey, work, joinedAt } = prepare(request, key, terms, flow, false);
      let wasShared = false;
      try {
        // The last event is always a state.
        const last = (await coalescer.last(flightKey, work, caller, signal)) as SharedState;
        wasShared = last.cached;
        if (!wasShared) {
          terms.onEngineTime(last.engineMs);
        }
        return await withTables(analysisFromState(last, request, joinedAt));
      } catch (error) {
        chargeDisconnected(caller, terms);
        throw error;
      } finally {
        countMiss(key, wasShared);
      }
    },
    async *follow(request, flow, signal, terms = ownTerms(request)) {
      const withTables = lookUpTables(request);
      const { key, known } = lookUp(request);
      if (known) {
        yield { kind: "state", analysis: await withTables(known) };
        return;
      }
      const { caller, flightKey, work, joinedAt } = prepare(request, key, terms, flow, true);
      let hasEnded = false;
      let wasShared = false;
      let charged: SharedState | undefined;
      let place = 0;
      // Charge at once: if the client reads slowly, this generator continues much later.
      const leave = () => chargeDisconnected(caller, terms, charged);
      signal.addEventListener("abort", leave, { once: true });
      try {
        for await (const event of coalescer.all(flightKey, work, caller, signal)) {
          if (event.kind === "state") {
            wasShared = event.cached;
            if (!wasShared) {
              charged = event;
              terms.onEngineTime(event.engineMs);
            }
            yield {
              kind: "state",
              analysis: await withTables(analysisFromState(event, request, joinedAt)),
            };
            continue;
          }
          const at = event.readPosition();
          // A search that was set back may wait again, but after a state, a stream contains only states.
          if (at !== undefined && at.place !== place && charged === undefined) {
            place = at.place;
            yield { kind: "waiting", at };
          }
        }
        hasEnded = true;
      } finally {
        signal.removeEventListener("abort", leave);
        countMiss(key, wasShared);
        if (!hasEnded && !signal.aborted) {
          leave();
        }
      }
    },
  };
}

function lookIn<T>(tier: CacheTier, look: () => T | undefined): T | undefined {
  const span = beginSpan(`cache ${tier}`, { attributes: { "kibitz.cache.tier": tier } });
  const found = look();
  span?.setAttribute("kibitz.cache.hit", found !== undefined).end();
  return found;
}

/** Trace attributes must not contain the chess position. */
function searchAttributes({ id, path }: EngineBuild, { depth, nodes, movetimeMs, multipv }: SearchJob) {
  return {
    "kibitz.engine": id,
    "kibitz.path": path,
    "kibitz.limit.depth": depth,
    "kibitz.limit.nodes": nodes,
    "kibitz.limit.movetime_ms": movetimeMs,
    "kibitz.multipv": multipv,
  };
}

/** The `queueMs` of the result does not include the time before `joinedAt`, when this caller joined the search. */
function analysisFromState(state: SharedState, request: ValidatedRequest, joinedAt: number): Analysis {
  const lateMs = Math.max(0, joinedAt - state.askedAt);
  const queueMs = Math.max(0, Math.round(state.queueMs - lateMs));
  return analysisFromResult(state.result(), request, { queueMs, cached: state.cached });
}
