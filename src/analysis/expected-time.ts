import { LRUCache } from "lru-cache";
import type { EngineBuild, SearchCounters, SearchDone } from "../engine/engine.ts";
import { requestBounds } from "./analysis.ts";

/** What decides how long a search takes. */
export interface SearchLimits {
  /** Plies; undefined where depth is no limit. */
  readonly depth: number | undefined;
  /** Positions to visit; undefined where they are no limit. */
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
}

/** How long a search takes, in milliseconds. */
export interface SearchTime {
  /** As such searches do. */
  readonly expectedMs: number;
  /** When it is ended. */
  readonly longestMs: number;
}

/** How long searches take on this machine, learnt from those that were run. */
export interface ExpectedTimes {
  /** Milliseconds that a search is expected to occupy an engine, at most its movetime. */
  expect(build: EngineBuild, limits: SearchLimits): number;
  /**
   * Takes note of a search: the engine's own milliseconds and nodes, whether it ended by its depth, and whose it was.
   * However much one caller asks, they are one of those that are listened to.
   */
  learn(build: EngineBuild, limits: SearchLimits, done: EndedSearch, caller: string): void;
}

/** What is learnt from. */
export interface EndedSearch {
  readonly endedBy: SearchDone["endedBy"];
  readonly snapshot: { readonly counters: Pick<SearchCounters, "nodes" | "timeMs"> };
}

/** Whose a flow is: that of a batch is called by its caller, `#`, and a name of its own. */
export function callerOf(flow: string): string {
  const end = flow.indexOf("#");
  return end < 0 ? flow : flow.slice(0, end);
}

/**
 * Starts from the table below, and corrects it for each build by what searches took: native engines are faster,
 * small machines slower, and a mean is more than a median. How that is done is `createPace`'s.
 */
export function createExpectedTimes(): ExpectedTimes {
  const paces = new WeakMap<EngineBuild, Paces>();
  return {
    expect(build, { depth, nodes, multipv, movetimeMs }) {
      const own = paces.get(build);
      const searchMs = Math.min(
        depth === undefined
          ? Number.POSITIVE_INFINITY
          : tableMs(depth, multipv) * (own?.deepening.value ?? 1),
        nodes === undefined ? Number.POSITIVE_INFINITY : nodes * msPerNode * (own?.visiting.value ?? 1),
      );
      return Math.min(newGameMs + searchMs, movetimeMs ?? requestBounds.movetimeMs.maximum);
    },
    learn(build, { depth, multipv }, { endedBy, snapshot }, caller) {
      const { nodes, timeMs } = snapshot.counters;
      const own = paces.get(build) ?? { deepening: createPace(), visiting: createPace() };
      paces.set(build, own);
      if (depth !== undefined) {
        const typicalMs = tableMs(depth, multipv);
        // A search that another limit cut short would have taken longer; how much longer, nobody knows.
        if (endedBy === "depth" || timeMs > typicalMs * own.deepening.value) {
          own.deepening.learn(caller, typicalMs, timeMs);
        }
      }
      if (timeMs >= tellingMs && nodes > 0) {
        own.visiting.learn(caller, nodes * msPerNode, timeMs);
      }
    },
  };
}

/** How long a build takes to get to a depth, and how long to visit its nodes: where one is slow, the other need not be. */
interface Paces {
  readonly deepening: Pace;
  readonly visiting: Pace;
}

/**
 * What is left of a search, in milliseconds. One that has overrun its estimate is not about to end: the times of
 * searches have a long tail, so it is granted some of what it has taken already.
 */
export function restMs(expectedMs: number, elapsedMs: number): number {
  return Math.max(expectedMs - elapsedMs, elapsedMs / 4);
}

/** An engine clears its hash after every search: 1 ms native, 2 ms in WebAssembly. */
const newGameMs = 2;

/**
 * Median time of a search by depth in milliseconds: Stockfish 19 with the full network in WebAssembly,
 * one thread, 16 MiB of hash, 20 varied positions. Measured on a 2-core
 * cloud machine in November 2026; another machine may take twice or half of it.
 */
const medianMs: readonly (readonly [depth: number, ms: number])[] = [
  [1, 1],
  [4, 2],
  [8, 5],
  [10, 10],
  [12, 23],
  [14, 68],
  [16, 207],
  [18, 713],
  [20, 2275],
];
/** Milliseconds a node, by the same table: the median searches of depths 14 and 16 visit 30,180 and 95,916. */
const msPerNode = 1 / 450;
/** Engines count in whole milliseconds: of fewer, a search says nothing about nodes. Some engines do not count nodes. */
const tellingMs = 10;
/** Growth a ply at the end of the table, and so beyond it. */
const growth = 1.8;
/** Each line costs as much again, and deep lines find less in the hash: measured at depth 12 for 2 to 10 lines. */
const linesFactor = 1.8;
function tableMs(depth: number, multipv: number): number {
  const deepening = deepeningMsByDepth[depth] ?? deepeningMs(depth);
  return multipv === 1 ? deepening : deepening * linesFactor * multipv;
}

/** Between the depths of the table by equal factors, as searches grow. */
function deepeningMs(depth: number): number {
  const at = medianMs.findLastIndex(([known]) => known <= depth);
  const [below, ms] = medianMs[at] ?? [1, 1];
  const above = medianMs[at + 1];
  const factor = above ? (above[1] / ms) ** (1 / (above[0] - below)) : growth;
  return ms * factor ** (depth - below);
}

/** Asked several times for every search. */
const deepeningMsByDepth = Array.from({ length: requestBounds.depth.maximum + 1 }, (_, depth) =>
  deepeningMs(depth),
);

/** How long searches take here, as a multiple of what a table says: 2 is twice as long. */
interface Pace {
  readonly value: number;
  /** Takes note of a search of a caller: milliseconds by the table, and what it took. */
  learn(caller: string, typicalMs: number, actualMs: number): void;
}

/** What the searches of one caller took: sums, so that what rounding does to the search of a millisecond weighs little. */
interface Evidence {
  readonly typicalMs: number;
  readonly actualMs: number;
  /** By `performance.now()`. */
  readonly at: number;
}

/** Callers who are remembered, last heard ones first. */
const callersMax = 32;
/** Searches that the table typically gives so many milliseconds are all that one caller can say at a time. */
const enoughMs = 100;
/** So much of what a caller said before counts after they have said enough again: some twenty deep searches count. */
const memory = 0.95;
/** Who is not heard any more counts half after this time: the machine may have other neighbours by now. */
const halfLifeMs = 15 * 60_000;
/** One caller may be answered so much slower or faster than the rest and is believed; beyond that, they count as this. */
const apart = 4;
/** One search is believed to be so much slower or faster than others: a board of queens takes a thousand times as long. */
const outlier = 8;
/** What the table counts beside one caller, or two: more than one, so that nobody alone outvotes it. */
const tableWeight = 1.5;
/** So many callers know better than the table. */
const enoughCallers = 3;

/**
 * The mean of what callers meet, each counted once however much they ask, and none believed to be more than four times
 * off their weighted median. So one caller alone changes it by less than three times, and by less still where there
 * are others: whoever sends positions that take a thousand times as long makes the others' expectations no fable.
 * The table has a voice of its own until three callers were heard.
 */
function createPace(): Pace {
  const callers = new LRUCache<string, Evidence>({ max: callersMax });
  let value = 1;

  return {
    get value() {
      return value;
    },
    learn(caller, typicalMs, actualMs) {
      const now = performance.now();
      const before = callers.get(caller) ?? { typicalMs: 0, actualMs: 0 };
      // Shallow searches say little, and make little forgotten.
      const kept = memory ** Math.min(1, typicalMs / enoughMs);
      const believedMs = within(actualMs, typicalMs * value, outlier);
      callers.set(caller, {
        typicalMs: before.typicalMs * kept + typicalMs,
        actualMs: before.actualMs * kept + believedMs,
        at: now,
      });
      value = meanOf(votesOf([...callers.values()], now));
    },
  };
}

interface Vote {
  readonly pace: number;
  readonly weight: number;
}

function votesOf(evidence: readonly Evidence[], now: number): readonly Vote[] {
  const votes = evidence.map(({ typicalMs, actualMs, at }) => ({
    pace: actualMs / typicalMs,
    weight: Math.min(1, typicalMs / enoughMs) * 0.5 ** ((now - at) / halfLifeMs),
  }));
  const missing = Math.max(0, enoughCallers - weightOf(votes));
  return [...votes, { pace: 1, weight: tableWeight * Math.min(1, missing) }];
}

function meanOf(votes: readonly Vote[]): number {
  const median = medianOf(votes);
  const sum = votes.reduce((before, { pace, weight }) => before + weight * within(pace, median, apart), 0);
  return sum / weightOf(votes);
}

/** Half of the weight is at or below it. */
function medianOf(votes: readonly Vote[]): number {
  const half = weightOf(votes) / 2;
  let below = 0;
  for (const { pace, weight } of votes.toSorted((one, other) => one.pace - other.pace)) {
    below += weight;
    if (below >= half) {
      return pace;
    }
  }
  return 1;
}

function weightOf(votes: readonly Vote[]): number {
  return votes.reduce((sum, { weight }) => sum + weight, 0);
}

/** At most so many times more or less than another. */
function within(value: number, other: number, times: number): number {
  return Math.min(Math.max(value, other / times), other * times);
}
