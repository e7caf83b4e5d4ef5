import type { EngineBuild, SearchCounters, SearchDone } from "../engine/engine.ts";
import { requestBounds } from "./analysis.ts";

/** The limits that decide how long a search takes. */
export interface SearchLimits {
  /** The depth limit in plies; undefined if there is none. */
  readonly depth: number | undefined;
  /** The number of positions to visit; undefined if it is not limited. */
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
}

/** The expected and the longest time of a search, in milliseconds. */
export interface SearchTime {
  /** The time that searches with these limits take on average. */
  readonly expectedMs: number;
  /** The time after which the search is ended. */
  readonly longestMs: number;
}

/** Estimates how long searches take on this machine, and learns from those that were run. */
export interface ExpectedTimes {
  /** Returns the time that a search is expected to occupy an engine, in milliseconds; at most its movetime. */
  expect(build: EngineBuild, limits: SearchLimits): number;
  /** Learns from a search that has ended: from its time by the engine's clock, and from the limit that ended it. */
  learn(build: EngineBuild, limits: SearchLimits, done: EndedSearch): void;
}

/** The part of a search result from which the time of searches is learnt. */
export interface EndedSearch {
  readonly endedBy: SearchDone["endedBy"];
  readonly snapshot: { readonly counters: Pick<SearchCounters, "nodes" | "timeMs"> };
}

/** The time that searches take, as a multiple of the time in the table: 2 is twice as long. */
interface Pace {
  /** The multiple for searches to a depth, whose time depends on the position as much as on the machine. */
  readonly depth: number;
  /** The multiple for the time of a node, which depends on the machine, but hardly on the position. */
  readonly nodes: number;
}

/**
 * Creates estimates that start from the table below. Corrects them for each build by moving averages of the times that searches
 * took, because native engines are faster, small machines are slower, and a mean is more than a median.
 */
export function createExpectedTimes(): ExpectedTimes {
  const paces = new WeakMap<EngineBuild, Pace>();
  const paceOf = (build: EngineBuild) => paces.get(build) ?? { depth: 1, nodes: 1 };
  return {
    expect(build, limits) {
      const pace = paceOf(build);
      const searchMs = Math.min(depthMs(limits) * pace.depth, nodesMs(limits.nodes) * pace.nodes);
      return Math.min(newGameMs + searchMs, limits.movetimeMs ?? requestBounds.movetimeMs.maximum);
    },
    learn(build, limits, { endedBy, snapshot }) {
      const { nodes, timeMs } = snapshot.counters;
      const pace = paceOf(build);
      const typicalMs = depthMs(limits);
      // A search that ended before its depth would have taken longer. How much longer is unknown, so it never makes the pace
      // faster.
      const teachesDepth =
        limits.depth !== undefined && (endedBy === "depth" || timeMs > typicalMs * pace.depth);
      paces.set(build, {
        depth: teachesDepth ? movedTo(timeMs, pace.depth, typicalMs) : pace.depth,
        nodes: nodes > 0 && timeMs >= shortestMs ? movedTo(timeMs, pace.nodes, nodesMs(nodes)) : pace.nodes,
      });
    },
  };
}

/** Returns the moving average after a search that took `timeMs`, for which the table has `typicalMs`. */
function movedTo(timeMs: number, pace: number, typicalMs: number): number {
  const own = Math.min(Math.max(timeMs / typicalMs, 1 / paceMax), paceMax);
  return pace + weight * Math.min(1, typicalMs / fullWeightMs) * (own - pace);
}

/** The shortest search from which the time of a node is learnt, in milliseconds, because engines count whole milliseconds. */
const shortestMs = 10;
/**
 * The weight of one search in the moving average, if such a search typically takes `fullWeightMs` or more. About twenty searches
 * decide the average.
 */
const weight = 0.05;
/**
 * The typical time of a search from which it has its full weight, in milliseconds. Shorter searches have less, because engines
 * count whole milliseconds.
 */
const fullWeightMs = 100;
/**
 * The largest factor by which one search counts as faster or slower than the table, because single positions take a thousand
 * times as long.
 */
const paceMax = 8;

/**
 * Estimates how long a search still runs, in milliseconds. The times of searches have a long tail: a search that has overrun its
 * estimate is expected to run for another quarter of its time so far.
 */
export function restMs(expectedMs: number, elapsedMs: number): number {
  return Math.max(expectedMs - elapsedMs, elapsedMs / 4);
}

/** The time that an engine takes to clear its hash after a search, in milliseconds: 1 in a native engine, 2 in WebAssembly. */
const newGameMs = 2;

/**
 * The median time of a search by depth, in milliseconds: Stockfish 19 with the full network in WebAssembly, one thread, 16 MiB of
 * hash, 20 varied positions. Measured on a 2-core cloud machine in November 2026; another machine may take twice or half of it.
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
/**
 * The milliseconds per node, from the table of median times: the median searches to depths 14 and 16 visit 30,180 and 95,916
 * nodes.
 */
const msPerNode = 1 / 450;
/** The factor by which a search grows with each ply beyond the end of the table. */
const growth = 1.8;
/**
 * The cost of each of several lines, as a multiple of the cost of a single line, because deep lines find less in the hash.
 * Measured at depth 12 for 2 to 10 lines.
 */
const linesFactor = 1.8;

/** Returns the time of a search to a depth in milliseconds, from the table of median times. */
function depthMs({ depth, multipv }: SearchLimits): number {
  const lines = multipv === 1 ? 1 : linesFactor * multipv;
  return depth === undefined ? Number.POSITIVE_INFINITY : deepeningMs(depth) * lines;
}

/** Returns the time of a search of a number of nodes in milliseconds, from the table of median times. */
function nodesMs(nodes: number | undefined): number {
  return nodes === undefined ? Number.POSITIVE_INFINITY : nodes * msPerNode;
}

/**
 * Returns the time of one line to a depth, in milliseconds. Between two depths of the table, each ply takes longer by the same
 * factor, as searches do.
 */
function deepeningMs(depth: number): number {
  const at = medianMs.findLastIndex(([known]) => known <= depth);
  const [below, ms] = medianMs[at] ?? [1, 1];
  const above = medianMs[at + 1];
  const factor = above ? (above[1] / ms) ** (1 / (above[0] - below)) : growth;
  return ms * factor ** (depth - below);
}
