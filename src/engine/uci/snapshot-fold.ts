import type { EngineLine, SearchCounters, Snapshot } from "../engine.ts";
import type { UciInfo } from "./parse-line.ts";

/** Collects the `info` lines of one search into states that are complete for every line. */
interface SnapshotFold {
  /** Adds a line. Returns the new state if the line completes one. */
  add(info: UciInfo): Snapshot | undefined;
  /** Call this when the search is cut short: no iteration that is printed afterwards counts as complete. */
  close(): void;
  /**
   * Returns the newest complete iteration with the counters of the whole search. If there is none, returns the newest first line.
   */
  final(): Snapshot | undefined;
}

/** The limits of a search that decide which iterations are complete. */
interface FoldLimits {
  readonly lineCount: number;
  readonly nodes: number | undefined;
  readonly movetimeMs: number;
}

/**
 * Creates the collector of a search. An iteration is complete when the engine has printed all of its lines, with exact scores,
 * before the time is up.
 *
 * If time ends an iteration, Stockfish prints that iteration once more, under its full depth: with relabelled lines that it did
 * not search, and with PVs of one move. Such lines carry a time at or after the limit. If a score is a bound, the engine searches
 * the same depth again.
 *
 * Stockfish does the same when the node limit is reached, which it notices up to a thousandth of the nodes late. An iteration
 * whose node count has reached the limit may therefore be unfinished. If a deeper iteration begins, the iteration was complete,
 * because only the last iteration can be unfinished.
 *
 * In a long search, Stockfish prints all lines after each line that it has searched. Another line may then have the new depth and
 * an exact score because it was the best for a while. In this stage, Stockfish also prints each move of the position when it
 * begins to search that move. If such a move follows at the same depth, the iteration was not complete.
 */
export function createSnapshotFold(limits: FoldLimits): SnapshotFold {
  const nodesMax = limits.nodes ?? Number.POSITIVE_INFINITY;
  let iteration: EngineLine[] = [];
  /** An iteration that may be complete: the next line, or the end of the search, shows whether it is. */
  let pending: { readonly whole: Snapshot; readonly ifLast: boolean; readonly reported: boolean } | undefined;
  let complete: Snapshot | undefined;
  let lastFirstLine: EngineLine | undefined;
  let counters = noCounters;
  let [printsMoves, closed] = [false, false];

  /**
   * Call this when an iteration of this depth begins or continues. Returns the pending iteration if it is now known to be
   * complete.
   */
  function reach(depth: number): Snapshot | undefined {
    const before = pending;
    pending = undefined;
    if (before === undefined || before.whole.depth >= depth || (closed && !before.ifLast)) {
      return undefined;
    }
    complete = before.whole;
    return before.reported ? undefined : before.whole;
  }

  return {
    close() {
      closed = true;
    },
    add(info) {
      counters = countersAfter(counters, info);
      if (limits.lineCount > 1 && info.currmove !== undefined && info.depth !== undefined) {
        printsMoves = true;
        return reach(info.depth);
      }
      const line = lineFromInfo(info);
      if (line === undefined) {
        return undefined;
      }
      const rank = info.multipv ?? 1;
      let proved: Snapshot | undefined;
      if (rank === 1) {
        proved = reach(line.depth);
        lastFirstLine = line;
        iteration = [];
      }
      const fits = !closed && rank === iteration.length + 1 && line.depth === (iteration[0] ?? line).depth;
      if (!fits || line.score.bound !== "exact" || (info.time ?? 0) >= limits.movetimeMs) {
        return proved;
      }
      iteration.push(line);
      if (iteration.length !== limits.lineCount) {
        return proved;
      }
      const whole = { depth: line.depth, complete: true, lines: iteration, counters };
      iteration = [];
      if (counters.nodes >= nodesMax) {
        pending = { whole, ifLast: false, reported: false };
        return proved;
      }
      if (limits.lineCount === 1) {
        complete = whole;
        return whole;
      }
      const reported = !printsMoves && stageOf(counters) === stageOf(complete?.counters);
      pending = { whole, ifLast: true, reported };
      return reported ? whole : proved;
    },
    final() {
      const newest = pending?.ifLast ? pending.whole : complete;
      const [line, depth] = [lastFirstLine, lastFirstLine?.depth ?? 0];
      return newest ? { ...newest, counters } : line && { depth, complete: false, lines: [line], counters };
    },
  };
}

const noCounters: SearchCounters = { nodes: 0, nps: 0, timeMs: 0, hashfull: 0, tbhits: 0 };

/**
 * Returns the stage of a search. Stockfish prints more in a later stage: version 15 after three seconds, version 19 after ten
 * million nodes.
 */
function stageOf({ nodes, timeMs } = noCounters): number {
  return Number(nodes > 10_000_000) + Number(timeMs > 3000);
}

function lineFromInfo(info: UciInfo): EngineLine | undefined {
  const { depth, score, bound, pv } = info;
  if (depth === undefined || score === undefined || pv.length === 0) {
    return undefined;
  }
  return {
    depth,
    seldepth: info.seldepth ?? depth,
    score: { value: score, bound, wdl: info.wdl },
    moves: pv,
  };
}

function countersAfter(before: SearchCounters, info: UciInfo): SearchCounters {
  return {
    nodes: info.nodes ?? before.nodes,
    nps: info.nps ?? before.nps,
    timeMs: info.time ?? before.timeMs,
    hashfull: info.hashfull ?? before.hashfull,
    tbhits: info.tbhits ?? before.tbhits,
  };
}
