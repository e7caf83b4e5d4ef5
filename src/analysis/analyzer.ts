import { setImmediate } from "node:timers/promises";
import { EngineFailure, type SearchDone, type SearchEvent, type SearchJob } from "../engine/engine.ts";
import type { Supervisor } from "../engine/supervisor.ts";
import type { AnalysisCache } from "../storage/ports.ts";
import type { Analysis, JudgedRequest } from "./analysis.ts";
import { analysisFromFindings } from "./analysis-from-findings.ts";
import { analysisOfFinishedGame } from "./analysis-of-finished-game.ts";
import { cacheKeyOf, flightKeyOf } from "./cache-key.ts";
import { createCoalescer, type SharedWork } from "./coalesce.ts";
import { errorFromFailure } from "./error-from-failure.ts";
import { createExpectedTimes, type ExpectedTimes } from "./expected-time.ts";
import type { Findings } from "./findings.ts";
import { findingsFromEvent } from "./findings-from-event.ts";
import type { Scheduler } from "./scheduler.ts";

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
  /** Complete states as the search deepens; the last one is final and has its stop reason. */
  watch(request: JudgedRequest, flow: string, signal: AbortSignal, terms?: Terms): AsyncIterable<Analysis>;
  /** Milliseconds that a search is expected to take on this machine by those that were run, at most its movetime. */
  readonly expectMs: ExpectedTimes["expect"];
  readonly counters: AnalyzerCounters;
}

/** What is agreed with a caller about their searches. */
export interface Terms {
  /** When a search ends that sets no time of its own, in milliseconds. */
  readonly movetimeMaxMs: number;
  /**
   * Told of all engine time so far, in milliseconds; never for an answer that takes none. That is what the answer
   * says it took, or where there is none the time that the search begun for this caller has run.
   */
  readonly onEngineTime: (engineMs: number) => void;
}

/** How requests were answered since the start. Those of finished games are in none of them. */
export interface AnalyzerCounters {
  /** From the cache. */
  readonly hits: number;
  /** By the search of another request that was under way. */
  readonly joins: number;
  /** By a search of their own. */
  readonly misses: number;
}

export interface AnalyzerOptions {
  readonly search: Supervisor;
  readonly scheduler: Scheduler;
  readonly cache: AnalysisCache<Findings>;
  /** When a search ends that sets no time of its own, in milliseconds. */
  readonly movetimeMaxMs: number;
}

/** A search as the caller who began it asked for it. */
interface Flight {
  readonly request: JudgedRequest;
  readonly movetimeMs: number;
  /** Of the cache; undefined for what is not kept. */
  readonly key: string | undefined;
  readonly flow: string;
  /** Told when it has its slot. */
  readonly onSlot: () => void;
}

/** A state of a search that several may read. */
interface SharedState {
  /** Described once, and only if somebody reads it: SAN costs more than a shallow search. */
  findings(): Findings;
  /** When the search began to wait for its slot, by `performance.now()`, and how long it did. */
  readonly askedAt: number;
  readonly queueMs: number;
  /** Engine time of the search so far, in milliseconds. */
  readonly engineMs: number;
}

export function createAnalyzer({ search, scheduler, cache, movetimeMaxMs }: AnalyzerOptions): Analyzer {
  const times = createExpectedTimes();
  const coalescer = createCoalescer<SharedState>();
  const ownTerms: Terms = { movetimeMaxMs, onEngineTime() {} };
  let hits = 0;

  async function run(
    { request, movetimeMs, key, flow, onSlot }: Flight,
    publish: (state: SharedState) => void,
    signal: AbortSignal,
  ): Promise<SharedState> {
    const { position, build, depth, multipv, options } = request;
    const job: SearchJob = { position, depth, multipv, movetimeMs, options };
    const askedAt = performance.now();
    const state = (event: SearchEvent, queueMs: number): SharedState => {
      let described: Findings | undefined;
      const findings = () => {
        described ??= findingsFromEvent(event, request);
        return described;
      };
      return { findings, askedAt, queueMs, engineMs: event.snapshot.counters.timeMs };
    };

    async function searchInSlot(): Promise<{ done: SearchDone; queueMs: number }> {
      using slot = await scheduler.enter({ flow, expectedMs: times.expect(build, job) }, signal);
      const { queueMs } = slot;
      onSlot();
      const done = await search(build, job, signal, (progress) => publish(state(progress, queueMs)));
      return { done, queueMs };
    }

    try {
      const { done, queueMs } = await searchInSlot();
      // Whoever waits for the slot is sent to the engine first: describing an answer takes a while.
      await setImmediate();
      times.learn(build, job, done.snapshot.counters.timeMs, done.endedBy);
      const last = state(done, queueMs);
      if (key !== undefined && last.findings().deterministic) {
        cache.set(key, last.findings());
      }
      return last;
    } catch (error) {
      throw error instanceof EngineFailure ? errorFromFailure(error) : error;
    }
  }

  /** By what equal searches are told, and the search if there is none: then it counts as the flow's. */
  function flightOf(request: JudgedRequest, key: string | undefined, flow: string, terms: Terms) {
    const movetimeMs = request.movetimeMs ?? terms.movetimeMaxMs;
    let begunAt: number | undefined;
    const onSlot = () => {
      begunAt = performance.now();
    };
    const flightKey = key === undefined ? undefined : flightKeyOf(key, movetimeMs);
    const flight = { request, movetimeMs, key, flow, onSlot };
    const work: SharedWork<SharedState> = (publish, signal) => run(flight, publish, signal);
    const chargeUntilNow = () => {
      if (begunAt !== undefined) {
        terms.onEngineTime(performance.now() - begunAt);
      }
    };
    return { flightKey, work, chargeUntilNow };
  }

  function keptOf(findings: Findings, request: JudgedRequest): Analysis {
    hits++;
    return analysisFromFindings(findings, request, { queueMs: 0, cached: true });
  }

  return {
    expectMs: times.expect,
    get counters() {
      const { started, joined } = coalescer.counters;
      return { hits, joins: joined, misses: started };
    },
    async analyze(request, flow, signal, terms = ownTerms) {
      const { terminal } = request.position;
      if (terminal) {
        return analysisOfFinishedGame(request, terminal);
      }
      const key = cacheKeyOf(request);
      const found = key === undefined ? undefined : cache.get(key, signal);
      const findings = found instanceof Promise ? await found : found;
      if (findings) {
        return keptOf(findings, request);
      }
      const joinedAt = performance.now();
      const { flightKey, work, chargeUntilNow } = flightOf(request, key, flow, terms);
      try {
        const last = await coalescer.last(flightKey, work, signal);
        terms.onEngineTime(last.engineMs);
        return analysisFromState(last, request, joinedAt);
      } catch (error) {
        chargeUntilNow();
        throw error;
      }
    },
    async *watch(request, flow, signal, terms = ownTerms) {
      const { terminal } = request.position;
      if (terminal) {
        yield analysisOfFinishedGame(request, terminal);
        return;
      }
      const key = cacheKeyOf(request);
      const findings = key === undefined ? undefined : await cache.get(key, signal);
      if (findings) {
        yield keptOf(findings, request);
        return;
      }
      const joinedAt = performance.now();
      const { flightKey, work, chargeUntilNow } = flightOf(request, key, flow, terms);
      let ended = false;
      try {
        for await (const state of coalescer.all(flightKey, work, signal)) {
          terms.onEngineTime(state.engineMs);
          yield analysisFromState(state, request, joinedAt);
        }
        ended = true;
      } finally {
        // Also where the watcher leaves: the search has run since its last state.
        if (!ended) {
          chargeUntilNow();
        }
      }
    },
  };
}

/** Who joins a search that waits already waits less than that. */
function analysisFromState(state: SharedState, request: JudgedRequest, joinedAt: number): Analysis {
  const lateMs = Math.max(0, joinedAt - state.askedAt);
  const queueMs = Math.max(0, Math.round(state.queueMs - lateMs));
  return analysisFromFindings(state.findings(), request, { queueMs, cached: false });
}
