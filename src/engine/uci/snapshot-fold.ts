import type { EngineLine, SearchCounters, Snapshot } from "../engine.ts";
import type { EngineProfile } from "../profiles.ts";
import type { UciInfo } from "./parse-line.ts";

/** Collects the `info` lines of one search. A snapshot contains all principal variations of one iteration. */
interface SnapshotFold {
  /** Returns the new snapshot if the line completes an iteration. */
  add(info: UciInfo): Snapshot | undefined;
  /**
   * Call this when `stop` is sent. An iteration that ends later is incomplete. An iteration that ended earlier, but that only
   * the next line can prove, stays complete only if this line follows.
   */
  close(): void;
  /** Returns the newest complete iteration. If no iteration is complete, returns the newest line for the best move. */
  final(): Snapshot | undefined;
}

interface FoldLimits {
  readonly lineCount: number;
  readonly nodes: number | undefined;
  readonly movetimeMs: number;
  readonly reports: EngineProfile["reports"];
}

export function createSnapshotFold(limits: FoldLimits): SnapshotFold {
  return limits.reports === "tree" ? foldTrees(limits) : foldIterations(limits);
}

/** Each report is complete, whatever limit ended the search. A small tree may have fewer moves than lines were requested. */
function foldTrees({ lineCount }: FoldLimits): SnapshotFold {
  let lines: EngineLine[] = [];
  let counters = noCounters;
  const snapshot = (): Snapshot | undefined =>
    lines[0] && { depth: lines[0].depth, complete: true, lines: [...lines], counters };

  return {
    close() {},
    add(info) {
      counters = countersAfter(counters, info);
      const line = lineFromInfo(info);
      const rank = info.multipv ?? 1;
      if (rank === 1 && line) {
        lines = [];
      }
      if (line === undefined || rank !== lines.length + 1) {
        return undefined;
      }
      lines.push(line);
      return lines.length === lineCount ? snapshot() : undefined;
    },
    final: snapshot,
  };
}

/**
 * Finds complete iterations in spite of these quirks of Stockfish:
 * - After a score that is only a bound, Stockfish searches the same depth again.
 * - When a limit ends an iteration, Stockfish prints the unfinished iteration like a complete iteration. The printed time is
 * then not before the time limit. The number of nodes may exceed the node limit by 0.1 percent.
 * - In a long search, Stockfish prints all lines again when one line is finished, possibly with the new depth too early. If
 * `currmove` follows with the same depth, the iteration was incomplete.
 */
function foldIterations(limits: FoldLimits): SnapshotFold {
  const nodesMax = limits.nodes ?? Number.POSITIVE_INFINITY;
  let iteration: EngineLine[] = [];
  /**
   * `completeIfLast`: the iteration is complete if the search ends now. `isReported`: `add` has already returned the snapshot.
   */
  let pending:
    | { readonly snapshot: Snapshot; readonly completeIfLast: boolean; readonly isReported: boolean }
    | undefined;
  let complete: Snapshot | undefined;
  let lastFirstLine: EngineLine | undefined;
  let counters = noCounters;
  let [printsMoves, closed] = [false, false];

  /**
   * If `depth` is greater than the depth of the pending iteration, this iteration is complete. Returns the iteration if `add`
   * has not returned it yet.
   */
  function reach(depth: number): Snapshot | undefined {
    const before = pending;
    pending = undefined;
    if (before === undefined || before.snapshot.depth >= depth || (closed && !before.completeIfLast)) {
      return undefined;
    }
    complete = before.snapshot;
    return before.isReported ? undefined : before.snapshot;
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
      const snapshot = { depth: line.depth, complete: true, lines: iteration, counters };
      iteration = [];
      if (counters.nodes >= nodesMax) {
        pending = { snapshot, completeIfLast: false, isReported: false };
        return proved;
      }
      if (limits.lineCount === 1) {
        complete = snapshot;
        return snapshot;
      }
      const isReported = !printsMoves && stageOf(counters) === stageOf(complete?.counters);
      pending = { snapshot, completeIfLast: true, isReported };
      return isReported ? snapshot : proved;
    },
    final() {
      const isComplete = pending?.completeIfLast && (pending.isReported || !closed);
      const newest = isComplete ? pending?.snapshot : complete;
      const [line, depth] = [lastFirstLine, lastFirstLine?.depth ?? 0];
      return newest ? { ...newest, counters } : line && { depth, complete: false, lines: [line], counters };
    },
  };
}

const noCounters: SearchCounters = { nodes: 0, nps: 0, timeMs: 0, hashfull: 0, tbhits: 0 };

/** Stockfish changes its output in a long search: version 15 after three seconds, version 19 after ten million nodes. */
function stageOf({ nodes, timeMs } = noCounters): number {
  return Number(nodes > 10_000_000) + Number(timeMs > 3000);
}

function lineFromInfo(info: UciInfo): EngineLine | undefined {
  const { depth, score, bound, pv } = info;
  if (depth === undefined || score === undefined || pv.length === 0) {
    return undefined;
  }
  // A mate in no moves is the score of a finished game, which has no search.
  if (score.kind === "mate" && score.mate === 0) {
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
