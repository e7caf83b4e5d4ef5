import type { Board } from "chessops/board";
import type { Setup } from "chessops/setup";
import { parseSquare } from "chessops/util";
import type { Notice } from "./position.ts";
import { quote } from "./quote.ts";
import { readBoard } from "./read-board.ts";
import { namesRookFiles, problemOfCastlingText, readCastling } from "./read-castling.ts";
import { splitFen } from "./split-fen.ts";

/**
 * What the text says, whether or not chess allows it. `setup.epSquare` is the square as asked for. `completed` is the
 * same FEN with its missing fields filled in by guess; it may still be a bad one.
 */
export type FenReading =
  | { kind: "setup"; setup: Setup; chess960: boolean; notices: readonly Notice[] }
  | { kind: "problems"; problems: readonly string[]; completed: string | undefined };

/**
 * Reads FEN, X-FEN and Shredder-FEN strictly: every field has a grammar of its own, and together they are the
 * allow-list of what may pass. All problems are reported, the first one first.
 */
export function readFen(text: string, askedForChess960: boolean): FenReading {
  const split = splitFen(text);
  if (split.kind === "problem") {
    return { kind: "problems", problems: [split.problem], completed: undefined };
  }
  const { fields } = split;
  const [boardText = "", turnText = "w", castlingField, epText = "-", halfmoves = "0", fullmoves = "1"] =
    fields;
  const board = readBoard(boardText);
  const castlingText = castlingField ?? (board.kind === "board" ? castlingAtHome(board.board) : "-");
  const chess960 = askedForChess960 || namesRookFiles(castlingText);
  const castling = board.kind === "board" ? readCastling(castlingText, board.board, chess960) : undefined;

  const problems = [
    problemOfShortage(fields.length),
    ...(board.kind === "problems" ? board.problems : []),
    problemOfTurn(turnText),
    problemOfCastlingText(castlingText) ?? (castling?.kind === "problem" ? castling.problem : undefined),
    problemOfEnPassant(epText, turnText),
    problemOfClock("half-move clock", halfmoves),
    problemOfClock("move number", fullmoves),
  ].filter((problem) => problem !== undefined);

  if (problems.length > 0 || board.kind !== "board" || castling?.kind !== "castling") {
    const completed = [boardText, turnText, castlingText, epText, halfmoves, fullmoves].join(" ");
    return { kind: "problems", problems, completed: fields.length < 4 ? completed : undefined };
  }

  const setup: Setup = {
    board: board.board,
    pockets: undefined,
    turn: turnText === "w" ? "white" : "black",
    castlingRights: castling.rooks,
    epSquare: parseSquare(epText),
    remainingChecks: undefined,
    halfmoves: Number(halfmoves),
    fullmoves: Math.max(Number(fullmoves), 1),
  };
  const notices = [noticeOfCastling(castling.removed), noticeOfClocks(fields.length, fullmoves)];
  return { kind: "setup", setup, chess960, notices: notices.filter((notice) => notice !== undefined) };
}

/** Whoever leaves the castling field out means a game where kings and rooks at home have not moved. */
function castlingAtHome(board: Board): string {
  const reading = readCastling("KQkq", board, false);
  const removed = reading.kind === "castling" ? reading.removed : "KQkq";
  return [..."KQkq"].filter((letter) => !removed.includes(letter)).join("") || "-";
}

function problemOfShortage(fieldCount: number): string | undefined {
  if (fieldCount >= 4) {
    return undefined;
  }
  const count = fieldCount === 1 ? "1 field" : `${fieldCount} fields`;
  return `The FEN has ${count}; board, side to move, castling and en passant are required.`;
}

function problemOfTurn(text: string): string | undefined {
  return text === "w" || text === "b" ? undefined : `The side to move, ${quote(text)}, must be 'w' or 'b'.`;
}

function problemOfEnPassant(text: string, turn: string): string | undefined {
  if (text === "-") {
    return undefined;
  }
  const square = /^[a-h]([1-8])$/.exec(text);
  if (!square) {
    return `The en passant field ${quote(text)} must be '-' or a square like 'e3'.`;
  }
  if ((turn !== "w" || square[1] === "6") && (turn !== "b" || square[1] === "3")) {
    return undefined;
  }
  return `The en passant square ${text} is on the wrong rank: 6 with White to move, 3 with Black.`;
}

function problemOfClock(name: string, text: string): string | undefined {
  return /^\d{1,4}$/.test(text)
    ? undefined
    : `The ${name}, ${quote(text)}, must be a whole number from 0 to 9999.`;
}

function noticeOfCastling(removed: string): Notice | undefined {
  if (removed === "") {
    return undefined;
  }
  const rights = removed.length === 1 ? `right ${removed} was` : `rights ${removed} were`;
  const message = `Castling ${rights} removed: the king or the rook is not in its place.`;
  return { code: "castling_rights_removed", message, field: "fen" };
}

function noticeOfClocks(fieldCount: number, fullmoves: string): Notice | undefined {
  if (fieldCount === 6 && Number(fullmoves) > 0) {
    return undefined;
  }
  const message =
    fieldCount === 4
      ? "The FEN has no clocks; half-move clock 0 and move number 1 were assumed."
      : "The FEN has no move number of 1 or more; 1 was assumed.";
  return { code: "clocks_defaulted", message, field: "fen" };
}
