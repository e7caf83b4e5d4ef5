import type { EngineLine, SearchCounters, Snapshot } from "../engine.ts";
import type { UciInfo } from "./parse-line.ts";

/** Collects the `info` lines of one search into snapshots. A snapshot contains all principal variations of one iteration. */
interface SnapshotFold {
  /** Returns the new snapshot if the line completes an iteration. */
  add(info: UciInfo): Snapshot | undefined;
  /** Called when the search is ended early. Iterations that are printed later are not complete. */
  close(): void;
  /** Returns the newest complete iteration. If no iteration is complete, returns the newest line for the best move. */
  final(): Snapshot | undefined;
}

interface FoldLimits {
  readonly lineCount: number;
  readonly nodes: number | undefined;
  readonly movetimeMs: number;
}

/**
 * Decides which iterations are complete. An iteration is complete when the engine has printed all of its `info` lines, with
 * exact scores, before the time limit. Stockfish has these peculiarities:
 * - After a score that is only a bound, Stockfish searches the same depth again.
 * - If the time limit ends an iteration, Stockfish prints the unfinished iteration as if the iteration were complete. The time
 *   in these lines is at or after the limit.
 * - Stockfish does the same at the node limit, which Stockfish exceeds by up to 0.1 percent. Therefore an iteration at the node
 *   limit is complete only if a deeper iteration follows.
 * - In a long search, Stockfish prints all lines again whenever a single line is finished. Therefore a line may have the new
 *   depth too early. In a long search, Stockfish also prints each move that the engine begins to search. If such a move follows
 *   at the same depth, the iteration was not complete.
 */
export function createSnapshotFold(limits: FoldLimits): SnapshotFold {
  const nodesMax = limits.nodes ?? Number.POSITIVE_INFINITY;
  let iteration: EngineLine[] = [];
  /** An iteration that may be complete. The next line or the end of the search decides. */
  let pending: { readonly whole: Snapshot; readonly ifLast: boolean; readonly reported: boolean } | undefined;
  let complete: Snapshot | undefined;
  let lastFirstLine: EngineLine | undefined;
  let counters = noCounters;
  let [printsMoves, closed] = [false, false];

  /**
   * Called for each depth that the engine prints. A deeper depth proves that the pending iteration is complete. In this case,
   * returns the pending iteration.
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

/** In a long search, Stockfish prints more output: version 15 after three seconds, version 19 after ten million nodes. */
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
