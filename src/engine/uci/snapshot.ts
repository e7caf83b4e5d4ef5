import type { EngineLine, SearchCounters, Snapshot } from "../engine.ts";
import type { UciInfo } from "./parse-line.ts";

/** Folds the `info` lines of one search into states that are complete for every line. */
export interface SnapshotFold {
  /** Returns the new state if this line completes one. */
  add(info: UciInfo): Snapshot | undefined;
  /** From now on the engine prints what it breaks off: no iteration is complete any more. */
  close(): void;
  /** The newest complete iteration with the counters of the whole search; else line 1 as last printed. */
  final(): Snapshot | undefined;
}

/**
 * An iteration is complete when the engine has printed all of its lines, with exact scores, before the
 * time was up.
 *
 * Stockfish prints the iteration that it breaks off once more, under its full depth: with lines that
 * it did not search relabelled, and PVs of one move. Those lines carry a time at or after the limit,
 * which tells them from the others. A line with a bound is the start of a second try at the same depth.
 */
export function createSnapshotFold(limits: {
  readonly lineCount: number;
  readonly movetimeMs: number;
}): SnapshotFold {
  let iteration: EngineLine[] = [];
  let complete: Snapshot | undefined;
  let lastFirstLine: EngineLine | undefined;
  let counters: SearchCounters = { nodes: 0, nps: 0, timeMs: 0, hashfull: 0, tbhits: 0 };

  let closed = false;

  return {
    close() {
      closed = true;
    },
    add(info) {
      counters = countersAfter(counters, info);
      const line = lineFromInfo(info);
      if (line === undefined) {
        return undefined;
      }
      const rank = info.multipv ?? 1;
      if (rank === 1) {
        lastFirstLine = line;
        iteration = [];
      }
      const fits = !closed && rank === iteration.length + 1 && line.depth === (iteration[0] ?? line).depth;
      if (!fits || line.score.bound !== "exact" || (info.time ?? 0) >= limits.movetimeMs) {
        return undefined;
      }
      iteration.push(line);
      if (iteration.length !== limits.lineCount) {
        return undefined;
      }
      complete = { depth: line.depth, complete: true, lines: iteration, counters };
      iteration = [];
      return complete;
    },
    final() {
      if (complete) {
        return { ...complete, counters };
      }
      return (
        lastFirstLine && { depth: lastFirstLine.depth, complete: false, lines: [lastFirstLine], counters }
      );
    },
  };
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
