import type { Bound, ScoreValue, Wdl } from "../../chess/score.ts";
import type { EngineLine, SearchCounters, Snapshot } from "../engine.ts";
import { int32Of, integerOf, parseOption, type UciOption } from "./options.ts";

/** What an engine tells in one `info` line. Engines leave out what they do not count. */
export interface UciInfo {
  readonly depth?: number;
  readonly seldepth?: number;
  readonly multipv?: number;
  readonly score?: ScoreValue;
  readonly bound: Bound;
  readonly wdl?: Wdl;
  readonly nodes?: number;
  readonly nps?: number;
  readonly hashfull?: number;
  readonly tbhits?: number;
  /** Milliseconds. */
  readonly time?: number;
  /** The move of the root that it begins to search, at this depth. */
  readonly currmove?: string;
  readonly pv: readonly string[];
}

export type UciLine =
  | { readonly kind: "id"; readonly field: "name" | "author"; readonly value: string }
  | { readonly kind: "option"; readonly option: UciOption }
  | { readonly kind: "uciok" }
  | { readonly kind: "readyok" }
  | { readonly kind: "info"; readonly info: UciInfo }
  | { readonly kind: "bestmove"; readonly move: string | undefined; readonly ponder: string | undefined }
  | { readonly kind: "critical"; readonly reason: string }
  | { readonly kind: "other" };

const other: UciLine = { kind: "other" };

/** Reads one line. Never throws: what an engine says beyond UCI is `other`, a bad field is skipped. */
export function parseLine(line: string): UciLine {
  const text = line.trim();
  // One in three lines of a shallow search, and never cut into words.
  if (/^info\s+string\b/.test(text)) {
    return parseInfoString(text);
  }
  const words = text.split(/\s+/);
  switch (words[0]) {
    case "info":
      return parseInfo(words);
    case "bestmove":
      return {
        kind: "bestmove",
        move: moveOf(words[1]),
        ponder: words[2] === "ponder" ? moveOf(words[3]) : undefined,
      };
    case "readyok":
      return { kind: "readyok" };
    case "uciok":
      return { kind: "uciok" };
    case "id":
      return words[1] === "name" || words[1] === "author"
        ? { kind: "id", field: words[1], value: words.slice(2).join(" ") }
        : other;
    case "option": {
      const option = parseOption(words);
      return option ? { kind: "option", option } : other;
    }
    default:
      return other;
  }
}

const movePattern = /^[a-h][1-8][a-h][1-8][qrbn]?$/;

// Stockfish says `bestmove (none)` for mate and stalemate, but also for positions that it refuses.
function moveOf(word: string | undefined): string | undefined {
  return word !== undefined && movePattern.test(word) ? word : undefined;
}

/** Stockfish 19 says `CRITICAL ERROR` of a position that it refuses, drops the rest of what it was sent, and never answers. */
function parseInfoString(text: string): UciLine {
  return text.includes("CRITICAL ERROR") ? { kind: "critical", reason: text.slice(0, 500) } : other;
}

function parseInfo(words: readonly string[]): UciLine {
  const info: { -readonly [K in keyof UciInfo]: UciInfo[K] } = { bound: "exact", pv: [] };
  let at = 1;
  /** Takes the next word if it is a value: where one is missing, the next field is still read. */
  const take = <T>(read: (word: string | undefined) => T | undefined): T | undefined => {
    const value = read(words[at + 1]);
    if (value !== undefined) {
      at++;
    }
    return value;
  };
  function set<K extends keyof UciInfo>(field: K, value: (typeof info)[K] | undefined): void {
    if (value !== undefined) {
      info[field] = value;
    }
  }
  for (; at < words.length; at++) {
    const word = words[at];
    switch (word) {
      case "depth":
      case "seldepth":
      case "multipv":
      case "nodes":
      case "nps":
      case "hashfull":
      case "tbhits":
      case "time":
        set(word, take(longCounts.includes(word) ? longCountOf : countOf));
        break;
      case "currmove":
        set(word, take(moveOf));
        break;
      case "score": {
        const kind = take(scoreKindOf);
        const value = kind && take(int32Of);
        if (value !== undefined) {
          info.score = kind === "cp" ? { kind, cp: value } : { kind: "mate", mate: value };
        }
        break;
      }
      case "lowerbound":
        info.bound = "lower";
        break;
      case "upperbound":
        info.bound = "upper";
        break;
      case "wdl": {
        const [win, draw, loss] = [take(countOf), take(countOf), take(countOf)];
        if (win !== undefined && draw !== undefined && loss !== undefined) {
          info.wdl = { win, draw, loss };
        }
        break;
      }
      case "pv":
        info.pv = words.slice(at + 1);
        return { kind: "info", info };
      case "string":
        // The rest is text.
        return { kind: "info", info };
    }
  }
  return { kind: "info", info };
}

function scoreKindOf(word: string | undefined): ScoreValue["kind"] | undefined {
  return word === "cp" || word === "mate" ? word : undefined;
}

const longCounts = ["nodes", "nps", "tbhits"];
const natural = (value: number | undefined) => (value === undefined || value < 0 ? undefined : value);
const countOf = (word: string | undefined) => natural(int32Of(word));
const longCountOf = (word: string | undefined) => natural(integerOf(word));

/** Folds the `info` lines of one search into states that are complete for every line. */
interface SnapshotFold {
  /** Returns the new state if this line completes one. */
  add(info: UciInfo): Snapshot | undefined;
  /** From now on the engine prints what it breaks off: no iteration is complete any more. */
  close(): void;
  /** The newest complete iteration with the counters of the whole search; else line 1 as last printed. */
  final(): Snapshot | undefined;
}

/** What a search was asked for, as far as it tells which iterations are complete. */
interface FoldLimits {
  readonly lineCount: number;
  readonly nodes: number | undefined;
  readonly movetimeMs: number;
}

/**
 * An iteration is complete when the engine has printed all of its lines, with exact scores, before the time was up.
 *
 * Stockfish prints the iteration that it breaks off once more, under its full depth: with lines that it did not search
 * relabelled, and PVs of one move. Those carry a time at or after the limit. A bound begins a second try at that depth.
 *
 * So it does when the nodes are used up, which it sees up to a thousandth of them late: an iteration whose count is at or
 * after that limit may be the one that was broken off, or have been finished just then. It is complete if a deeper one
 * was begun, because what is broken off is the last.
 *
 * In a long search it prints all lines after each one that it has searched. Others may have the new depth and an exact
 * score, too, from when they were the best for a while. But then it also tells each move of the root that it begins: where
 * that is at the same depth, the iteration was not complete.
 */
export function createSnapshotFold(limits: FoldLimits): SnapshotFold {
  const nodesMax = limits.nodes ?? Number.POSITIVE_INFINITY;
  let iteration: EngineLine[] = [];
  /** What comes next tells whether it is complete, or that nothing does. */
  let pending: { readonly whole: Snapshot; readonly ifLast: boolean; readonly told: boolean } | undefined;
  let complete: Snapshot | undefined;
  let lastFirstLine: EngineLine | undefined;
  let counters = noCounters;
  let [tellsMoves, closed] = [false, false];

  /** An iteration of that depth begins, or goes on. Returns the one before where that turns out to be complete. */
  function goesOn(depth: number): Snapshot | undefined {
    const before = pending;
    pending = undefined;
    if (before === undefined || before.whole.depth >= depth || (closed && !before.ifLast)) {
      return undefined;
    }
    complete = before.whole;
    return before.told ? undefined : before.whole;
  }

  return {
    close() {
      closed = true;
    },
    add(info) {
      counters = countersAfter(counters, info);
      if (limits.lineCount > 1 && info.currmove !== undefined && info.depth !== undefined) {
        tellsMoves = true;
        return goesOn(info.depth);
      }
      const line = lineFromInfo(info);
      if (line === undefined) {
        return undefined;
      }
      const rank = info.multipv ?? 1;
      let proved: Snapshot | undefined;
      if (rank === 1) {
        proved = goesOn(line.depth);
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
        pending = { whole, ifLast: false, told: false };
        return proved;
      }
      if (limits.lineCount === 1) {
        complete = whole;
        return whole;
      }
      const told = !tellsMoves && howLong(counters) === howLong(complete?.counters);
      pending = { whole, ifLast: true, told };
      return told ? whole : proved;
    },
    final() {
      const newest = pending?.ifLast ? pending.whole : complete;
      const [line, depth] = [lastFirstLine, lastFirstLine?.depth ?? 0];
      return newest ? { ...newest, counters } : line && { depth, complete: false, lines: [line], counters };
    },
  };
}

const noCounters: SearchCounters = { nodes: 0, nps: 0, timeMs: 0, hashfull: 0, tbhits: 0 };

/** Stockfish prints more from some time on: 15 after three seconds, 19 after ten million nodes. */
function howLong({ nodes, timeMs } = noCounters): number {
  return Number(nodes > 10_000_000) + Number(timeMs > 3000);
}

/** What an engine prints in a search: read line by line, or kept until somebody wants to know. */
interface SearchLines extends SnapshotFold {
  /** Takes a line that nobody wants to know of yet. */
  keep(text: string): void;
  /** Reads the lines that were kept. Returns the newest complete state, as it was at its time. */
  readKept(): Snapshot | undefined;
}

/** Lines that are kept at most: more than most searches print. */
const keptMax = 256;

/** The same as a fold that reads each line at once. Where only the end is asked for, the last lines say it. */
export function createSearchLines(limits: FoldLimits): SearchLines {
  const fold = createSnapshotFold(limits);
  let kept: string[] = [];
  let newest: Snapshot | undefined;

  function add(info: UciInfo): Snapshot | undefined {
    const snapshot = fold.add(info);
    newest = snapshot ?? newest;
    return snapshot;
  }

  function readKept(): Snapshot | undefined {
    infosOf(kept).forEach(add);
    kept = [];
    return newest;
  }

  return {
    add,
    readKept,
    close: fold.close,
    keep(text) {
      kept.push(text);
      if (kept.length === keptMax) {
        readKept();
      }
    },
    final() {
      for (let count = 2 * limits.lineCount; count < kept.length; count *= 2) {
        const infos = infosOf(kept.slice(-count));
        const last = createSnapshotFold(limits);
        infos.forEach(last.add);
        const snapshot = last.final();
        // What lies before cannot be newer than a complete iteration, nor than counters that all are told.
        if (snapshot?.complete && infos.some(tellsAllCounters)) {
          return snapshot;
        }
      }
      readKept();
      return fold.final();
    },
  };
}

function infosOf(lines: readonly string[]): readonly UciInfo[] {
  return lines.map(parseLine).flatMap((line) => (line.kind === "info" ? [line.info] : []));
}

function tellsAllCounters({ nodes, nps, time, hashfull, tbhits }: UciInfo): boolean {
  return [nodes, nps, time, hashfull, tbhits].every((count) => count !== undefined);
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
