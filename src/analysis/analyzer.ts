import { setImmediate } from "node:timers/promises";
import {
  type EngineBuild,
  EngineFailure,
  type SearchDone,
  type SearchEvent,
  type SearchJob,
  type SearchProgress,
} from "../engine/engine.ts";
import type { SearchWithRetry } from "../engine/search-with-retry.ts";
import type { CacheTier, Meter } from "../metrics/meter.ts";
import type { AnswerStore, InstantCache } from "../storage/ports.ts";
import { beginSpan, inSpan } from "../tracing/spans.ts";
import {
  type Analysis,
  analysisFromFindings,
  analysisOfFinishedGame,
  cacheKeyOf,
  type Findings,
  findingsFromEvent,
  flightKeyOf,
  isWorthSharing,
  isWorthStoring,
  type JudgedRequest,
  restrictionOf,
} from "./analysis.ts";
import { type CoalescerCounters, createCoalescer, type SharedWork, type Sharers } from "./coalesce.ts";
import { type Asker, createAsker, type RunTimes } from "./engine-time.ts";
import { errorFromFailure } from "./error-from-failure.ts";
import { createExpectedTimes, type ExpectedTimes, type SearchTime } from "./expected-time.ts";
import type { Flight, Followed, SharedEvent, SharedState, Sharing, Terms } from "./flight.ts";
import type { Scheduler, Slot, Standing } from "./scheduler.ts";

/**
 * Analyses positions. A finished game gives its one state at once, and what is known already gives its final
 * one; equal requests share a search. Only what is left asks an engine.
 */
export interface Analyzer {
  /**
   * The final state.
   *
   * @param flow whose work it is: flows share the engines evenly. An address, or a batch of one.
   * @throws KibitzError; the reason of `signal`.
   */
  analyze(request: JudgedRequest, flow: string, signal: AbortSignal, terms?: Terms): Promise<Analysis>;
  /**
   * Complete states as the search deepens; the last one is final and has its stop reason. Before them, while the search
   * waits for its slot: its place, when that has changed.
   */
  follow(request: JudgedRequest, flow: string, signal: AbortSignal, terms?: Terms): AsyncIterable<Followed>;
  /** Milliseconds that a search is expected to take on this machine by those that were run, at most its movetime. */
  readonly expectMs: ExpectedTimes["expect"];
  /**
   * The same for the search of a request, and when that ends.
   *
   * @param movetimeMaxMs when it ends if it sets no time of its own, in milliseconds
   */
  timeOf(request: JudgedRequest, movetimeMaxMs: number): SearchTime;
  /** Callers whose answer was not kept from before. */
  askers(): CoalescerCounters;
}

interface AnalyzerOptions {
  readonly meter?: Pick<Meter, "search" | "lookUp"> | undefined;
  readonly search: SearchWithRetry;
  readonly scheduler: Scheduler;
  readonly cache: InstantCache<Findings>;
  /** What the cache does not know any more, or the process before this one has found. */
  readonly store?: AnswerStore<Findings> | undefined;
  /** With other nodes, where there may be some. */
  readonly sharing?: Sharing | undefined;
  /** When a search ends that sets no time of its own and about which nothing is agreed, in milliseconds. */
  readonly movetimeMaxMs: number;
}

/** Of what is kept; undefined for what is not. */
type Key = string | undefined;

export function createAnalyzer({
  search: searchOnEngine,
  scheduler,
  cache,
  store,
  sharing,
  meter,
  movetimeMaxMs,
}: AnalyzerOptions): Analyzer {
  const expectedTimes = createExpectedTimes();
  const coalescer = createCoalescer<SharedEvent, Asker>();
  sharing?.serve((flightKey, signal) => coalescer.join(flightKey, createAsker("another node"), signal));

  const search: SearchWithRetry = (build, job, signal, ...told) =>
    inSpan("engine search", { signal, attributes: searchAttributes(build, job) }, async (span) => {
      const done = await searchOnEngine(build, job, signal, ...told);
      span?.setAttributes({
        "kibitz.depth": done.snapshot.depth,
        "kibitz.nodes": done.snapshot.counters.nodes,
        "kibitz.engine_ms": done.snapshot.counters.timeMs,
        "kibitz.ended_by": done.endedBy,
      });
      return done;
    });

  /** What is known of a search: from memory, else from the store, and then from memory. */
  function lookUp(key: string, request: JudgedRequest): Findings | undefined {
    const found = lookIn("memory", () => cache.get(key));
    const storing = isWorthStoring(request) ? store : undefined;
    if (found) {
      meter?.lookUp("memory");
      return found;
    }
    const stored = storing && lookIn("store", () => storing.get(key));
    if (stored) {
      cache.set(key, stored);
      meter?.lookUp("store");
    }
    return stored;
  }

  /** Counts what was not here: another node had it, or nobody. */
  const tellElsewhere = (key: Key, wasShared = false) =>
    key === undefined || meter?.lookUp(wasShared ? "shared" : undefined);

  function keep(key: string, request: JudgedRequest, findings: Findings): void {
    cache.set(key, findings);
    if (isWorthStoring(request)) {
      store?.set(key, findings);
    }
  }

  function timeOf({ build, depth, nodes, multipv, movetimeMs }: JudgedRequest, maxMs: number): SearchTime {
    const longestMs = movetimeMs ?? maxMs;
    const limits = { depth, nodes, multipv, movetimeMs: longestMs };
    return { expectedMs: expectedTimes.expect(build, limits), longestMs };
  }

  const ownTerms = (request: JudgedRequest): Terms => ({
    ...timeOf(request, movetimeMaxMs),
    onEngineTime() {},
  });

  async function run(
    { request, time, key, flightKey, asker }: Flight,
    publish: (event: SharedEvent) => void,
    signal: AbortSignal,
    sharers: Sharers<Asker>,
  ): Promise<SharedState> {
    const { flow } = asker;
    const times: RunTimes = { begunAt: undefined, endedAt: undefined };
    asker.joins(times);
    sharers.watch((who) => who.joins(times));
    const { position, build, depth, nodes, multipv, options } = request;
    const searchMoves = restrictionOf(request);
    const limits = { depth, nodes, movetimeMs: time.longestMs };
    const job: SearchJob = { position, multipv, searchMoves, options, ...limits };
    const askedAt = performance.now();
    const state = (event: SearchEvent, queueMs: number): SharedState => {
      let described: Findings | undefined;
      const findings = () => {
        described ??= findingsFromEvent(event, request);
        return described;
      };
      const { depth, counters } = event.snapshot;
      return { kind: "state", findings, depth, askedAt, queueMs, engineMs: counters.timeMs, cached: false };
    };

    const tellStanding = (standing: Standing) => publish({ kind: "waiting", standing });
    const expectMs = () => expectedTimes.expect(build, job);
    const enter = (isAdmitted: boolean) =>
      inSpan("queue", { signal }, () =>
        scheduler.enter({ flow, expectMs, isAdmitted }, signal, tellStanding),
      );

    async function searchIn(entered: Slot, tell: typeof publish): Promise<SharedState> {
      const done = await searchHolding(entered, tell);
      // Whoever waits for the slot is sent to the engine first: describing an answer takes a while.
      await setImmediate();
      expectedTimes.learn(build, job, done);
      meter?.search({ path: build.path, queueMs: entered.queueMs, ...done });
      const last = state(done, entered.queueMs);
      if (key !== undefined && last.findings().deterministic) {
        keep(key, request, last.findings());
      }
      return last;
    }

    async function searchHolding(slot: Slot, tell: typeof publish): Promise<SearchDone> {
      times.begunAt = undefined;
      times.endedAt = undefined;
      const onEngine = (isHeld: boolean) => {
        const now = performance.now();
        times.begunAt ??= now;
        times.endedAt = isHeld ? undefined : now;
      };
      try {
        const tellProgress = (progress: SearchProgress) => tell(state(progress, slot.queueMs));
        return await search(build, job, signal, tellProgress, onEngine);
      } finally {
        slot[Symbol.dispose]();
      }
    }

    try {
      if (sharing === undefined || key === undefined || flightKey === undefined || !isWorthSharing(request)) {
        return await searchIn(await enter(false), publish);
      }
      const hasFreeSlot = () => scheduler.hasFreeSlot;
      const here = { hasFreeSlot, enter, searchIn, publish, signal, times };
      return await sharing.run({ key, flightKey, ...here });
    } catch (error) {
      throw error instanceof EngineFailure ? errorFromFailure(error) : error;
    }
  }

  /** By what equal searches are told, and the search if there is none: then it counts as the flow's. */
  function flightOf(request: JudgedRequest, key: Key, flow: string, time: SearchTime) {
    const flightKey = key === undefined ? undefined : flightKeyOf(key, time.longestMs);
    const asker = createAsker(flow);
    const flight = { asker, request, time, key, flightKey };
    const work: SharedWork<SharedEvent, Asker> = (...joint) => run(flight, ...joint);
    return { asker, flightKey, work };
  }

  /** @param toldMs what they have been told already that it took. */
  function chargeWhoLeft(asker: Asker, { onEngineTime }: Terms, toldMs = 0): void {
    const engineMs = asker.engineMs();
    if (engineMs > toldMs) {
      onEngineTime(engineMs);
    }
  }

  function keptOf(findings: Findings, request: JudgedRequest): Analysis {
    return analysisFromFindings(findings, request, { queueMs: 0, cached: true });
  }

  async function ask(request: JudgedRequest, key: Key, flow: string, signal: AbortSignal, terms: Terms) {
    const joinedAt = performance.now();
    const { asker, flightKey, work } = flightOf(request, key, flow, terms);
    try {
      const last = (await coalescer.last(flightKey, work, asker, signal)) as SharedState;
      tellElsewhere(key, last.cached);
      if (!last.cached) {
        terms.onEngineTime(last.engineMs);
      }
      return analysisFromState(last, request, joinedAt);
    } catch (error) {
      tellElsewhere(key);
      chargeWhoLeft(asker, terms);
      throw error;
    }
  }

  const analyzer: Analyzer = {
    expectMs: expectedTimes.expect,
    timeOf,
    askers: () => coalescer.counters,
    async analyze(request, flow, signal, terms = ownTerms(request)) {
      const { terminal } = request.position;
      if (terminal) {
        return analysisOfFinishedGame(request, terminal);
      }
      const key = cacheKeyOf(request);
      const findings = key === undefined ? undefined : lookUp(key, request);
      return findings ? keptOf(findings, request) : ask(request, key, flow, signal, terms);
    },
    async *follow(request, flow, signal, terms = ownTerms(request)) {
      const { terminal } = request.position;
      if (terminal) {
        yield { kind: "state", analysis: analysisOfFinishedGame(request, terminal) };
        return;
      }
      const key = cacheKeyOf(request);
      const findings = key === undefined ? undefined : lookUp(key, request);
      if (findings) {
        yield { kind: "state", analysis: keptOf(findings, request) };
        return;
      }
      const joinedAt = performance.now();
      const { asker, flightKey, work } = flightOf(request, key, flow, terms);
      let ended = false;
      let wasShared = false;
      let toldMs = 0;
      let place = 0;
      // At once: a watcher that reads slowly may come back much later.
      const leave = () => chargeWhoLeft(asker, terms, toldMs);
      signal.addEventListener("abort", leave, { once: true });
      try {
        for await (const event of coalescer.all(flightKey, work, asker, signal)) {
          if (event.kind === "state") {
            wasShared = event.cached;
            if (!event.cached) {
              toldMs = event.engineMs;
              terms.onEngineTime(toldMs);
            }
            yield { kind: "state", analysis: analysisFromState(event, request, joinedAt) };
            continue;
          }
          const at = event.standing();
          if (at !== undefined && at.place !== place) {
            place = at.place;
            yield { kind: "waiting", at };
          }
        }
        ended = true;
      } finally {
        signal.removeEventListener("abort", leave);
        tellElsewhere(key, wasShared);
        if (!ended && !signal.aborted) {
          leave();
        }
      }
    },
  };
  return analyzer;
}

/** Looks an answer up in its own span. */
function lookIn<T>(tier: CacheTier, look: () => T | undefined): T | undefined {
  const span = beginSpan(`cache ${tier}`, { attributes: { "kibitz.cache.tier": tier } });
  const found = look();
  span?.setAttribute("kibitz.cache.hit", found !== undefined).end();
  return found;
}

/** The engine and the limits of a search, and nothing of its position. */
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

/** Who joins a search that waits already waits less than that. */
function analysisFromState(state: SharedState, request: JudgedRequest, joinedAt: number): Analysis {
  const lateMs = Math.max(0, joinedAt - state.askedAt);
  const queueMs = Math.max(0, Math.round(state.queueMs - lateMs));
  return analysisFromFindings(state.findings(), request, { queueMs, cached: state.cached });
}
