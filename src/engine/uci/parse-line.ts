import type { Bound, ScoreValue, Wdl } from "../../chess/score.ts";
import { int32Of, integerOf, parseOption, type UciOption } from "./options.ts";

/** A field is missing if the engine did not print the value. */
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
  /** Milliseconds since the start of the search. */
  readonly time?: number;
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

/** Never throws: an unknown line becomes `other`, and an invalid field is skipped. */
export function parseLine(line: string): UciLine {
  const text = line.trim();
  // Do not split this line, to save time: every third line of a shallow search is an `info string`.
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
      return parseId(decoded(line).trim().split(/\s+/));
    case "option": {
      const option = parseOption(words);
      return option ? { kind: "option", option } : other;
    }
    default:
      return other;
  }
}

/**
 * The longest variation that is read, in moves. Stockfish prints at most 246 moves. An engine could print thousands of moves
 * in a line, and playing them would take seconds.
 */
const pvMax = 256;

const movePattern = /^[a-h][1-8][a-h][1-8][qrbn]?$/;

/** Returns undefined for `(none)`, which Stockfish prints for mate, stalemate and rejected positions. */
function moveOf(word: string | undefined): string | undefined {
  return word !== undefined && movePattern.test(word) ? word : undefined;
}

/** Stockfish 19 prints `CRITICAL ERROR` when it rejects a position, and then ignores all further input. */
function parseInfoString(text: string): UciLine {
  return text.includes("CRITICAL ERROR") ? { kind: "critical", reason: text.slice(0, 500) } : other;
}

function parseId([, field, ...words]: readonly string[]): UciLine {
  return field === "name" || field === "author" ? { kind: "id", field, value: words.join(" ") } : other;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The output of engines is read as Latin-1, to save time. Names may be UTF-8. */
function decoded(line: string): string {
  try {
    return utf8.decode(Buffer.from(line, "latin1"));
  } catch {
    return line;
  }
}

function parseInfo(words: readonly string[]): UciLine {
  const info: { -readonly [K in keyof UciInfo]: UciInfo[K] } = { bound: "exact", pv: [] };
  let at = 1;
  /** Reads the next word as a value. If the word is not a value, the loop reads it as a field. */
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
        info.pv = words.slice(at + 1, at + 1 + pvMax);
        return { kind: "info", info };
      case "string":
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
