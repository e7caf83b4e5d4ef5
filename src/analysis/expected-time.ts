import type { EngineBuild, SearchCounters, SearchDone } from "../engine/engine.ts";
import { requestBounds } from "./analysis.ts";

/** The limits that decide how long a search takes. */
export interface SearchLimits {
  /** Plies; undefined if depth is no limit. */
  readonly depth: number | undefined;
  /** Positions to visit; undefined if they are no limit. */
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
}

/** How long a search takes, in milliseconds. */
export interface SearchTime {
  /** The time that such searches take on average. */
  readonly expectedMs: number;
  /** The time after which the search is ended. */
  readonly longestMs: number;
}

/** How long searches take on this machine, learnt from those that were run. */
export interface ExpectedTimes {
  /** Milliseconds that a search is expected to occupy an engine, at most its movetime. */
  expect(build: EngineBuild, limits: SearchLimits): number;
  /** Learns from a search that has ended: from the engine's own milliseconds, and from the limit that ended it. */
  learn(build: EngineBuild, limits: SearchLimits, done: EndedSearch): void;
}

/** The part of a search's result that says how long searches take. */
export interface EndedSearch {
  readonly endedBy: SearchDone["endedBy"];
  readonly snapshot: { readonly counters: Pick<SearchCounters, "nodes" | "timeMs"> };
}

/** The time that searches take as a multiple of the time by the table: 2 is twice as long. */
interface Pace {
  /** The time of a depth depends on the position as much as on the machine. */
  readonly depth: number;
  /** The time of a node depends on the machine, and hardly on the position. */
  readonly nodes: number;
}

/**
 * Starts from the table below, and corrects it for each build by moving averages of the times that searches took: native engines are
 * faster, small machines slower, and a mean is more than a median.
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
      // A search that ended before its depth would have taken longer. Nobody knows how much longer, so it never makes the pace faster.
      const teachesDepth =
        limits.depth !== undefined && (endedBy === "depth" || timeMs > typicalMs * pace.depth);
      paces.set(build, {
        depth: teachesDepth ? movedTo(timeMs, pace.depth, typicalMs) : pace.depth,
        nodes: nodes > 0 && timeMs >= shortestMs ? movedTo(timeMs, pace.nodes, nodesMs(nodes)) : pace.nodes,
      });
    },
  };
}

/** The moving average after a search that took `timeMs`, where the table says `typicalMs`. */
function movedTo(timeMs: number, pace: number, typicalMs: number): number {
  const own = Math.min(Math.max(timeMs / typicalMs, 1 / paceMax), paceMax);
  return pace + weight * Math.min(1, typicalMs / fullWeightMs) * (own - pace);
}

/** Engines count whole milliseconds: a shorter search does not say how long a node takes. */
const shortestMs = 10;
/** Weight of one search in the moving average, if it typically takes `fullWeightMs` or more: some twenty searches decide. */
const weight = 0.05;
/** Engines count whole milliseconds, so shorter searches say less. */
const fullWeightMs = 100;
/** One search counts as at most eight times as fast or slow as the table: single positions take a thousand times as long. */
const paceMax = 8;

/**
 * Estimates how long a search still runs, in milliseconds. The times of searches have a long tail: one that has overrun its estimate is
 * expected to run for another quarter of the time that it has taken.
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
/** Growth a ply beyond the end of the table. */
const growth = 1.8;
/** Each line costs as much again, and deep lines find less in the hash: measured at depth 12 for 2 to 10 lines. */
const linesFactor = 1.8;

/** The time of a search to a depth by the table, in milliseconds. */
function depthMs({ depth, multipv }: SearchLimits): number {
  const lines = multipv === 1 ? 1 : linesFactor * multipv;
  return depth === undefined ? Number.POSITIVE_INFINITY : deepeningMs(depth) * lines;
}

/** The time of so many nodes by the table, in milliseconds. */
function nodesMs(nodes: number | undefined): number {
  return nodes === undefined ? Number.POSITIVE_INFINITY : nodes * msPerNode;
}

/** Between two depths of the table, each ply takes the same factor longer, as searches grow. */
function deepeningMs(depth: number): number {
  const at = medianMs.findLastIndex(([known]) => known <= depth);
  const [below, ms] = medianMs[at] ?? [1, 1];
  const above = medianMs[at + 1];
  const factor = above ? (above[1] / ms) ** (1 / (above[0] - below)) : growth;
  return ms * factor ** (depth - below);
}
