import { readWord } from "../../src/game/read-word.ts";

/** The kind of a pasted text: the analysis reads a `fen`, the review a `pgn`, and only the key field reads a `key`. */
export type TextKind = "fen" | "pgn" | "key";

/** A board of a FEN, well formed or not: ranks between slashes, and nothing of a PGN. */
const boardLike = /^[\w~?*.-]+(?:\/[\w~?*.-]*){3,}$/;

const tagLine = /^[ \t]*\[\w+[ \t]+"/m;
/** With a move behind it, of whatever language: other lists are numbered as well. */
const numberedMove = /(?:^|[\s)}])\d{1,3}\s{0,3}[.…]{1,3}\s{0,3}\S{0,5}?(?:[a-h][1-8]|[O0]-[O0])/;

/** How much of a text is looked at for moves, in characters. */
const lookedAtMax = 10_000;

/** Guesses the kind of a text; undefined if the page cannot use it. */
export function kindOfText(text: string): TextKind | undefined {
  const trimmed = text.trim();
  if (/\bkbz_/.test(trimmed)) {
    return /^(?:Bearer\s+)?kbz_\S*$/i.test(trimmed) ? "key" : undefined;
  }
  const [first = ""] = trimmed.split(/\s+/, 1);
  const isOneLine = !/[\r\n]/.test(trimmed);
  if (isOneLine && (trimmed === "startpos" || boardLike.test(first))) {
    return "fen";
  }
  return isGame(trimmed.slice(0, lookedAtMax)) ? "pgn" : undefined;
}

function isGame(text: string): boolean {
  return tagLine.test(text) || numberedMove.test(text) || countMoves(text) > 1;
}

function countMoves(text: string): number {
  return text.split(/[\s(){}]+/).filter((word) => readWord(word)?.some(({ kind }) => kind === "move")).length;
}
