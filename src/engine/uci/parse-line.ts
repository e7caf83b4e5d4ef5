import type { Bound, ScoreValue, Wdl } from "../../chess/score.ts";
import type { EngineLine, SearchCounters, Snapshot } from "../engine.ts";

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
  readonly pv: readonly string[];
}

/** An `option` line of the greeting. */
export interface UciOption {
  readonly name: string;
  readonly type: string;
  readonly default: string | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
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
    case "option":
      return parseOption(words);
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
      case "time": {
        const count = take(countOf);
        if (count !== undefined) {
          info[word] = count;
        }
        break;
      }
      case "score": {
        const kind = take(scoreKindOf);
        const value = kind && take(integerOf);
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

/** `option name Skill Level type spin default 20 min 0 max 20`: names have spaces, and so may defaults. */
function parseOption(words: readonly string[]): UciLine {
  const parts = new Map<string, string[]>();
  let part: string[] | undefined;
  for (const word of words.slice(1)) {
    if (["name", "type", "default", "min", "max", "var"].includes(word) && !parts.has(word)) {
      part = [];
      parts.set(word, part);
    } else {
      part?.push(word);
    }
  }
  const text = (key: string) => parts.get(key)?.join(" ");
  const name = text("name");
  const type = text("type");
  if (!name || !type) {
    return other;
  }
  return {
    kind: "option",
    option: {
      name,
      type,
      default: text("default"),
      min: integerOf(text("min")),
      max: integerOf(text("max")),
    },
  };
}

function scoreKindOf(word: string | undefined): ScoreValue["kind"] | undefined {
  return word === "cp" || word === "mate" ? word : undefined;
}

function integerOf(word: string | undefined): number | undefined {
  // Of -0 the sum with 0 is 0.
  return word !== undefined && /^-?\d{1,15}$/.test(word) ? Number(word) + 0 : undefined;
}

function countOf(word: string | undefined): number | undefined {
  const value = integerOf(word);
  return value !== undefined && value >= 0 ? value : undefined;
}

/** Folds the `info` lines of one search into states that are complete for every line. */
export interface SnapshotFold {
  /** Returns the new state if this line completes one. */
  add(info: UciInfo): Snapshot | undefined;
  /** From now on the engine prints what it breaks off: no iteration is complete any more. */
  close(): void;
  /** The newest complete iteration with the counters of the whole search; else line 1 as last printed. */
  final(): Snapshot | undefined;
}

/** What a search was asked for, as far as it tells which iterations are complete. */
export interface FoldLimits {
  readonly lineCount: number;
  readonly movetimeMs: number;
}

/**
 * An iteration is complete when the engine has printed all of its lines, with exact scores, before the
 * time was up.
 *
 * Stockfish prints the iteration that it breaks off once more, under its full depth: with lines that
 * it did not search relabelled, and PVs of one move. Those lines carry a time at or after the limit,
 * which tells them from the others. A line with a bound is the start of a second try at the same depth.
 */
export function createSnapshotFold(limits: FoldLimits): SnapshotFold {
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
