import type { Board } from "chessops/board";
import { SquareSet } from "chessops/squareSet";
import type { CastlingSide, Color, Square } from "chessops/types";
import { squareFile, squareFromCoords } from "chessops/util";
import { quote } from "./quote.ts";

/** `rooks` are the squares of the rooks that may castle; `removed` the letters that no king and rook stand behind. */
export type CastlingReading =
  | { kind: "castling"; rooks: SquareSet; removed: string }
  | { kind: "problem"; problem: string };

interface Right {
  readonly color: Color;
  readonly side: CastlingSide;
  readonly rook: Square;
}

/** A letter that names a rook's file (Shredder-FEN) exists in Chess960 only. */
export function namesRookFiles(castling: string): boolean {
  return /[A-Ha-h]/.test(castling);
}

/** The text and the order of a castling field, before the board is known. */
export function problemOfCastlingText(text: string): string | undefined {
  if (text === "-") {
    return undefined;
  }
  if (!/^[KQkqA-Ha-h]+$/.test(text)) {
    return `The castling field ${quote(text)} must be '-' or letters from KQkq (in Chess960 also A-H and a-h).`;
  }
  if (new Set(text).size < text.length) {
    return `The castling field ${quote(text)} repeats a letter.`;
  }
  return undefined;
}

/**
 * Reads a castling field whose text is well formed. Standard: king on the e-file, rook in the corner. Chess960: a file
 * letter names the rook, `K` and `Q` mean the outermost rook on that side of the king (X-FEN), and the king, which
 * begins between its rooks, is not on the a- or h-file: Stockfish drops the right there, and so must we.
 */
export function readCastling(text: string, board: Board, chess960: boolean): CastlingReading {
  const rights: Right[] = [];
  let removed = "";
  for (const letter of text === "-" ? "" : text) {
    const right = rightFromLetter(letter, board, chess960);
    if (right === undefined) {
      removed += letter;
    } else if (rights.some((other) => other.color === right.color && other.side === right.side)) {
      return { kind: "problem", problem: `The castling field ${quote(text)} gives the same right twice.` };
    } else {
      rights.push(right);
    }
  }
  const rooks = rights.reduce((squares, right) => squares.with(right.rook), SquareSet.empty());
  return { kind: "castling", rooks, removed };
}

function rightFromLetter(letter: string, board: Board, chess960: boolean): Right | undefined {
  const upper = letter.toUpperCase();
  const color = letter === upper ? "white" : "black";
  const backrank = SquareSet.backrank(color);
  const rooks = board.pieces(color, "rook").intersect(backrank);
  const king = board.kingOf(color);
  const rook = upper === "K" ? rooks.last() : upper === "Q" ? rooks.first() : rookOnFile(upper, rooks, color);
  if (king === undefined || rook === undefined || !backrank.has(king)) {
    return undefined;
  }

  const side: CastlingSide = rook < king ? "a" : "h";
  if ((upper === "K" && side === "a") || (upper === "Q" && side === "h")) {
    return undefined;
  }
  const file = squareFile(king);
  const inPlace = chess960 ? file > 0 && file < 7 : file === 4 && squareFile(rook) === (side === "a" ? 0 : 7);
  return inPlace ? { color, side, rook } : undefined;
}

function rookOnFile(file: string, rooks: SquareSet, color: Color): Square | undefined {
  const square = squareFromCoords("ABCDEFGH".indexOf(file), color === "white" ? 0 : 7);
  return square !== undefined && rooks.has(square) ? square : undefined;
}
