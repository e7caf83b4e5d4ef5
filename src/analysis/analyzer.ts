import { setImmediate } from "node:timers/promises";
import { hashMbFor } from "../engine/catalog.ts";
import {
  type EngineBuild,
  EngineFailure,
  type OptionValues,
  type SearchDone,
  type SearchEvent,
  type SearchJob,
  type SearchProgress,
} from "../engine/engine.ts";
import type { SearchWithRetry } from "../engine/search-with-retry.ts";
import type { AnalysisCache } from "../storage/ports.ts";
import {
  type Analysis,
  analysisFromFindings,
  analysisOfFinishedGame,
  type Findings,
  findingsFromEvent,
  type JudgedRequest,
} from "./analysis.ts";
import { createCoalescer, type SharedWork, type Sharers } from "./coalesce.ts";
import { errorFromFailure } from "./error-from-failure.ts";
import { callerOf, createExpectedTimes, type ExpectedTimes, type SearchTime } from "./expected-time.ts";
import { type Asker, createAsker, type RunTimes } from "./fair-queue.ts";
import type { PlaceInQueue, Scheduler, Standing } from "./scheduler.ts";

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
  /** The same, and before it, while the search waits for its slot: its place, when that has changed. */
  follow(request: JudgedRequest, flow: string, signal: AbortSignal, terms?: Terms): AsyncIterable<Followed>;
  /** Milliseconds that a search is expected to take on this machine by those that were run, at most its movetime. */
  readonly expectMs: ExpectedTimes["expect"];
  /**
   * The same for the search of a request, and when that ends.
   *
   * @param movetimeMaxMs when it ends if it sets no time of its own, in milliseconds
   */
  timeOf(request: JudgedRequest, movetimeMaxMs: number): SearchTime;
}

/** What happens to a search. */
export type Followed =
  | { readonly kind: "waiting"; readonly at: PlaceInQueue }
  | { readonly kind: "state"; readonly analysis: Analysis };

/** What is agreed with a caller about a search of theirs: how long it takes, and what they are told of that. */
export interface Terms extends SearchTime {
  /**
   * Told of all engine time so far, in milliseconds; never for an answer that takes none. That is what the answer
   * says it took, or where there is none the time that the search has run while this caller waited for it.
   */
  readonly onEngineTime: (engineMs: number) => void;
}

export interface AnalyzerOptions {
  readonly search: SearchWithRetry;
  readonly scheduler: Scheduler;
  readonly cache: AnalysisCache<Findings>;
  /** When a search ends that sets no time of its own and about which nothing is agreed, in milliseconds. */
  readonly movetimeMaxMs: number;
}

/** A search as the caller who began it asked for it. */
interface Flight {
  readonly asker: Asker;
  readonly request: JudgedRequest;
  readonly time: SearchTime;
  /** Of the cache; undefined for what is not kept. */
  readonly key: string | undefined;
}

/** What a search that several may read tells of itself. Its last word is a state. */
type SharedEvent = SharedWaiting | SharedState;

/** The search waits. Where it stands is looked up by who reads it: a slow reader is not told of places long left. */
interface SharedWaiting {
  readonly kind: "waiting";
  readonly standing: Standing;
}

/** A state of a search. */
interface SharedState {
  readonly kind: "state";
  /** Described once, and only if somebody reads it: SAN costs more than a shallow search. */
  findings(): Findings;
  /** When the search began to wait for its slot, by `performance.now()`, and how long it did. */
  readonly askedAt: number;
  readonly queueMs: number;
  /** Engine time of the search so far, in milliseconds. */
  readonly engineMs: number;
}

export function createAnalyzer({ search, scheduler, cache, movetimeMaxMs }: AnalyzerOptions): Analyzer {
  const expectedTimes = createExpectedTimes();
  const coalescer = createCoalescer<SharedEvent, Asker>();

  function timeOf({ build, depth, multipv, movetimeMs }: JudgedRequest, maxMs: number): SearchTime {
    const longestMs = movetimeMs ?? maxMs;
    return { expectedMs: expectedTimes.expect(build, { depth, multipv, movetimeMs: longestMs }), longestMs };
  }

  const ownTerms = (request: JudgedRequest): Terms => ({
    ...timeOf(request, movetimeMaxMs),
    onEngineTime() {},
  });

  async function run(
    { request, time, key, asker }: Flight,
    publish: (event: SharedEvent) => void,
    signal: AbortSignal,
    sharers: Sharers<Asker>,
  ): Promise<SharedState> {
    const { flow } = asker;
    const times: RunTimes = { begunAt: undefined, endedAt: undefined, engineMs: undefined };
    asker.joins(times);
    sharers.watch(
      (who) => who.joins(times),
      (who) => who.leaves(),
    );
    const { position, build, depth, multipv, options } = request;
    const hashMb = hashMbFor(build, request);
    const job: SearchJob = { position, depth, multipv, movetimeMs: time.longestMs, options, hashMb };
    const askedAt = performance.now();
    const state = (event: SearchEvent, queueMs: number): SharedState => {
      let described: Findings | undefined;
      const findings = () => {
        described ??= findingsFromEvent(event, request);
        return described;
      };
      return { kind: "state", findings, askedAt, queueMs, engineMs: event.snapshot.counters.timeMs };
    };

    async function searchInSlot(): Promise<{ done: SearchDone; queueMs: number }> {
      const asked = { flow, expectedMs: time.expectedMs, sharers };
      const tellStanding = (standing: Standing) => publish({ kind: "waiting", standing });
      using slot = await scheduler.enter(asked, signal, tellStanding);
      const { queueMs } = slot;
      times.begunAt = performance.now();
      try {
        const tell = (progress: SearchProgress) => publish(state(progress, queueMs));
        const done = await search(build, job, signal, tell, sharers.statesWanted);
        times.engineMs = done.snapshot.counters.timeMs;
        return { done, queueMs };
      } finally {
        times.endedAt = performance.now();
      }
    }

    try {
      const { done, queueMs } = await searchInSlot();
      // Whoever waits for the slot is sent to the engine first: describing an answer takes a while.
      await setImmediate();
      expectedTimes.learn(build, job, done.snapshot.counters.timeMs, done.endedBy, callerOf(flow));
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
  function flightOf(request: JudgedRequest, key: string | undefined, flow: string, time: SearchTime) {
    const flightKey = key === undefined ? undefined : flightKeyOf(key, time.longestMs);
    const asker = createAsker(flow);
    const flight = { asker, request, time, key };
    const work: SharedWork<SharedEvent, Asker> = (publish, signal, sharers) =>
      run(flight, publish, signal, sharers);
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

  const analyzer: Analyzer = {
    expectMs: expectedTimes.expect,
    timeOf,
    async analyze(request, flow, signal, terms = ownTerms(request)) {
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
      const { asker, flightKey, work } = flightOf(request, key, flow, terms);
      try {
        const last = (await coalescer.last(flightKey, work, asker, signal)) as SharedState;
        terms.onEngineTime(last.engineMs);
        return analysisFromState(last, request, joinedAt);
      } catch (error) {
        chargeWhoLeft(asker, terms);
        throw error;
      }
    },
    async *watch(...asked) {
      for await (const event of analyzer.follow(...asked)) {
        if (event.kind === "state") {
          yield event.analysis;
        }
      }
    },
    async *follow(request, flow, signal, terms = ownTerms(request)) {
      const { terminal } = request.position;
      if (terminal) {
        yield { kind: "state", analysis: analysisOfFinishedGame(request, terminal) };
        return;
      }
      const key = cacheKeyOf(request);
      const findings = key === undefined ? undefined : await cache.get(key, signal);
      if (findings) {
        yield { kind: "state", analysis: keptOf(findings, request) };
        return;
      }
      const joinedAt = performance.now();
      const { asker, flightKey, work } = flightOf(request, key, flow, terms);
      let ended = false;
      let toldMs = 0;
      let place = 0;
      signal.addEventListener("abort", asker.leaves, { once: true });
      try {
        for await (const event of coalescer.all(flightKey, work, asker, signal)) {
          if (event.kind === "state") {
            toldMs = event.engineMs;
            terms.onEngineTime(toldMs);
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
        signal.removeEventListener("abort", asker.leaves);
        // Also where the watcher leaves: the search has run since the last state that was read.
        if (!ended) {
          chargeWhoLeft(asker, terms, toldMs);
        }
      }
    },
  };
  return analyzer;
}

/** Who joins a search that waits already waits less than that. */
function analysisFromState(state: SharedState, request: JudgedRequest, joinedAt: number): Analysis {
  const lateMs = Math.max(0, joinedAt - state.askedAt);
  const queueMs = Math.max(0, Math.round(state.queueMs - lateMs));
  return analysisFromFindings(state.findings(), request, { queueMs, cached: false });
}

/**
 * Names the search of a request: two requests have the same key exactly if depth alone defines the same answer
 * to both. Undefined for a weakened engine, which plays with dice: no two of its answers are the same.
 *
 * In the key are the normal six-field FEN that the history starts from, the moves, the variant, the build, threads,
 * the hash table of the search, depth, lines, and the options that are in effect. The caller's FEN text and options that say
 * what is so anyway are not.
 *
 * **`movetime_ms` is not in it**, on purpose. Kept are only findings that the asked depth has ended, and those
 * a longer or shorter movetime would not change: the contract defines a deterministic answer by depth alone.
 * So a request with `movetime_ms: 50` may be given an answer that once took seconds: better than its own search
 * would have been, and at once. `flightKeyOf` is for searches that have yet to end, where it matters.
 *
 * **The SHA-256 of the build is not in it**: id, path and file name a build exactly within one process, which
 * finds its builds at the start, and reading 99 MB must not delay the first answer. A store that processes
 * share has to add the digest: what is one file today may be another tomorrow.
 */
export function cacheKeyOf(request: JudgedRequest): string | undefined {
  if (request.weakened) {
    return undefined;
  }
  const { position, build, depth, multipv, effectiveOptions } = request;
  const variant = position.chess960 ? "chess960" : "standard";
  const moves = position.moves.length === 0 ? "" : position.moves.join(" ");
  return `${position.root}|${moves}|${variant}|${keyOfBuild(build)}|${hashMbFor(build, request)}|${depth}|${multipv}|${keyOfOptions(effectiveOptions)}`;
}

/** Names a search under way: `cacheKeyOf`, and when time ends it, since nobody knows yet what will. */
export function flightKeyOf(cacheKey: string, movetimeMs: number): string {
  return `${cacheKey}|${movetimeMs}`;
}

function keyOfBuild({ id, path, file, settings }: EngineBuild): string {
  return `${id}|${path}|${file}|${settings.threads}`;
}

function keyOfOptions(options: OptionValues): string {
  const names = Object.keys(options);
  return names.length === 0
    ? ""
    : names
        .toSorted()
        .map((name) => `${name}=${options[name]}`)
        .join(" ");
}
