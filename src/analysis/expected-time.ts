import type { EngineBuild, SearchCounters, SearchDone } from "../engine/engine.ts";
import { requestBounds } from "./analysis.ts";

export interface SearchLimits {
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
}

export interface SearchTime {
  /** The time that searches with these limits take on average. */
  readonly expectedMs: number;
  /** The time after which the search is ended. */
  readonly longestMs: number;
}

/** Learns from the searches that were run on this machine. */
export interface ExpectedTimes {
  /** Returns at most the movetime of the search. */
  expect(build: EngineBuild, limits: SearchLimits): number;
  /** Learns from a search's time by the engine's clock, and from the limit that ended it. */
  learn(build: EngineBuild, limits: SearchLimits, done: EndedSearch): void;
}

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

/** Corrects the table below for each build: native engines are faster, small machines slower, and a mean exceeds a median. */
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
      // A search that ended before its depth would have taken longer, by an unknown time, so it never makes the pace faster.
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

/** Shorter searches do not teach the time of a node, because engines count whole milliseconds. */
const shortestMs = 10;
/** About twenty searches decide the moving average, if each typically takes `fullWeightMs` or more. */
const weight = 0.05;
/** A search that typically takes less than this has less weight, because engines count whole milliseconds. */
const fullWeightMs = 100;
/** One search counts as faster or slower by this factor at most, because single positions take a thousand times as long. */
const paceMax = 8;

/** Search times have a long tail: a search that has overrun its estimate is expected to run for another quarter of its time. */
export function restMs(expectedMs: number, elapsedMs: number): number {
  return Math.max(expectedMs - elapsedMs, elapsedMs / 4);
}

/** The time that an engine takes to clear its hash after a search, in milliseconds: 1 in a native engine, 2 in WebAssembly. */
const newGameMs = 2;

/** Medians of Stockfish 19 (WebAssembly, full network, 16 MiB of hash, 20 positions) on a 2-core cloud machine, 2026-11. */
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
/** The median searches to depths 14 and 16 visit 30,180 and 95,916 nodes. */
const msPerNode = 1 / 450;
/** The factor by which a search grows with each ply beyond the end of the table. */
const growth = 1.8;
/** Each of several lines costs more than a single one, because deep lines find less in the hash. Measured at depth 12. */
const linesFactor = 1.8;

function depthMs({ depth, multipv }: SearchLimits): number {
  const lines = multipv === 1 ? 1 : linesFactor * multipv;
  return depth === undefined ? Number.POSITIVE_INFINITY : deepeningMs(depth) * lines;
}

function nodesMs(nodes: number | undefined): number {
  return nodes === undefined ? Number.POSITIVE_INFINITY : nodes * msPerNode;
}

/** Between two depths of the table, each ply takes longer by the same factor. */
function deepeningMs(depth: number): number {
  const at = medianMs.findLastIndex(([known]) => known <= depth);
  const [below, ms] = medianMs[at] ?? [1, 1];
  const above = medianMs[at + 1];
  const factor = above ? (above[1] / ms) ** (1 / (above[0] - below)) : growth;
  return ms * factor ** (depth - below);
}
