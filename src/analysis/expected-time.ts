import type { EngineBuild, SearchCounters, SearchDone } from "../engine/engine.ts";
import { requestBounds } from "./analysis.ts";

export interface SearchLimits {
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
}

export interface SearchTime {
  readonly expectedMs: number;
  readonly longestMs: number;
}

export interface ExpectedTimes {
  /** Returns the expected time in milliseconds. The result is at most the movetime of the search. */
  expect(build: EngineBuild, limits: SearchLimits): number;
  /** Call this after each search. */
  learn(build: EngineBuild, limits: SearchLimits, done: EndedSearch): void;
}

export interface EndedSearch {
  readonly endedBy: SearchDone["endedBy"];
  readonly snapshot: { readonly counters: Pick<SearchCounters, "nodes" | "timeMs"> };
}

/** The measured times divided by the times in this file. 2 means that a search takes twice as long as in this file. */
interface Pace {
  /** How much the searches so far have taught, in searches of full weight. */
  readonly taught: number;
  /** The factor for searches with a depth limit. This factor depends on the positions as much as on the machine. */
  readonly depth: number;
  /** The factor for the time per node. This factor depends on the machine and hardly on the positions. */
  readonly nodes: number;
}

/** At first, the estimates use the table in this file. Each search then improves the estimates for its build. */
export function createExpectedTimes(): ExpectedTimes {
  const paces = new WeakMap<EngineBuild, Pace>();
  const paceOf = (build: EngineBuild) => paces.get(build) ?? { taught: 0, depth: 1, nodes: 1 };
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
      // A search that stopped before its depth would have taken longer. Use its time only if this raises the estimate.
      const teachesDepth =
        limits.depth !== undefined && (endedBy === "depth" || timeMs > typicalMs * pace.depth);
      const teachesNodes = nodes > 0 && timeMs >= shortestMs;
      const lesson = Math.min(1, timeMs / fullWeightMs);
      paces.set(build, {
        taught: pace.taught + (teachesNodes ? lesson : 0),
        depth: teachesDepth ? movedAverage(timeMs, pace.depth, typicalMs) : pace.depth,
        nodes: teachesNodes ? movedNodes(pace, timeMs / nodesMs(nodes), lesson) : pace.nodes,
      });
    },
  };
}

function movedAverage(timeMs: number, pace: number, typicalMs: number): number {
  const own = Math.min(Math.max(timeMs / typicalMs, 1 / paceMax), paceMax);
  return pace + weight * Math.min(1, typicalMs / fullWeightMs) * (own - pace);
}

/**
 * The first searches change the factor more than later searches, because the time per node hardly depends on the positions: Lc0
 * on a processor needs a hundred thousand times as long for a node as Stockfish.
 */
function movedNodes({ taught, nodes }: Pace, own: number, lesson: number): number {
  return nodes + Math.max(weight, 1 / (1 + taught)) * lesson * (own - nodes);
}

/** Shorter searches do not change the factor for nodes, because engines round times to milliseconds. */
const shortestMs = 10;
/** The moving average depends mostly on the last twenty long searches. */
const weight = 0.05;
/** A shorter search changes the average less, because engines round times to milliseconds. */
const fullWeightMs = 100;
/** Limits the effect of one search on the average: a few positions take a thousand times as long as others. */
const paceMax = 8;

/** Returns the expected remaining time. After the expected time, a search takes about a quarter of the elapsed time more. */
export function restMs(expectedMs: number, elapsedMs: number): number {
  return Math.max(expectedMs - elapsedMs, elapsedMs / 4);
}

/** Milliseconds for clearing the hash table after a search: 1 in a native engine, 2 in WebAssembly. */
const newGameMs = 2;

/** Medians of Stockfish 19 (WebAssembly, full network, 16 MiB of hash, 20 positions) on two cloud processors, November 2026. */
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
/** The median search to depth 14 visits 30,180 nodes. The median search to depth 16 visits 95,916 nodes. */
const msPerNode = 1 / 450;
/** Beyond the last depth of the table, each ply multiplies the time by this factor. */
const growth = 1.8;
/** Searching `n` lines takes `n` times this factor as long as searching one line. Measured at depth 12. */
const linesFactor = 1.8;

function depthMs({ depth, multipv }: SearchLimits): number {
  const lines = multipv === 1 ? 1 : linesFactor * multipv;
  return depth === undefined ? Number.POSITIVE_INFINITY : deepeningMs(depth) * lines;
}

function nodesMs(nodes: number | undefined): number {
  return nodes === undefined ? Number.POSITIVE_INFINITY : nodes * msPerNode;
}

function deepeningMs(depth: number): number {
  const at = medianMs.findLastIndex(([known]) => known <= depth);
  const [below, ms] = medianMs[at] ?? [1, 1];
  const above = medianMs[at + 1];
  const factor = above ? (above[1] / ms) ** (1 / (above[0] - below)) : growth;
  return ms * factor ** (depth - below);
}
