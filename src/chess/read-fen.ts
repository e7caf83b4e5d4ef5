import type { Board } from "chessops/board";
import { parseBoardFen } from "chessops/fen";
import type { Setup } from "chessops/setup";
import { SquareSet } from "chessops/squareSet";
import type { CastlingSide, Color, Square } from "chessops/types";
import { parseSquare, squareFile, squareFromCoords } from "chessops/util";
import { quote } from "../text/plain-text.ts";
import type { Warning } from "./position.ts";

/**
 * The content of the text, whether or not the rules of chess allow it. `setup.epSquare` is the square in the text. `completed` is the
 * FEN with its missing fields filled in, which may still be invalid.
 */
type FenReading =
  | { kind: "setup"; setup: Setup; chess960: boolean; warnings: readonly Warning[] }
  | { kind: "problems"; problems: readonly string[]; completed: string | undefined };

/**
 * Reads FEN, X-FEN and Shredder-FEN strictly: each field has its own grammar, and nothing else is accepted. All
 * problems are reported, in the order of the fields.
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
  const warnings = [warningOfCastling(castling.removed), warningOfClocks(fields.length, fullmoves)];
  return { kind: "setup", setup, chess960, warnings: warnings.filter((warning) => warning !== undefined) };
}

/** Castling rights if the field is missing: kings and rooks on their home squares have not moved. */
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

function warningOfCastling(removed: string): Warning | undefined {
  if (removed === "") {
    return undefined;
  }
  const rights = removed.length === 1 ? `right ${removed} was` : `rights ${removed} were`;
  const message = `Castling ${rights} removed: the king or the rook is not in its place.`;
  return { code: "castling_rights_removed", message, field: "fen" };
}

function warningOfClocks(fieldCount: number, fullmoves: string): Warning | undefined {
  if (fieldCount === 6 && Number(fullmoves) > 0) {
    return undefined;
  }
  const message =
    fieldCount === 4
      ? "The FEN has no clocks; half-move clock 0 and move number 1 were assumed."
      : "The FEN has no move number of 1 or more; 1 was assumed.";
  return { code: "clocks_defaulted", message, field: "fen" };
}

/** `problems` are sentences for the caller, at most one per rank. */
type BoardReading = { kind: "board"; board: Board } | { kind: "problems"; problems: readonly string[] };

/** Reads the first field of a FEN. The checks come first: chessops also reads "44" for eight empty squares, and "~" for promoted pieces. */
function readBoard(text: string): BoardReading {
  const problems = problemsOfBoard(text);
  return problems.length > 0
    ? { kind: "problems", problems }
    : { kind: "board", board: parseBoardFen(text).unwrap() };
}

function problemsOfBoard(text: string): readonly string[] {
  const ranks = text.split("/");
  if (ranks.length !== 8) {
    const count = ranks.length === 1 ? "1 rank" : `${ranks.length} ranks`;
    return [`The board field ${quote(text)} has ${count}; a board has 8, separated by '/'.`];
  }
  return ranks.flatMap((rank, index) => {
    const wrong = problemOfRank(rank);
    return wrong === undefined ? [] : [`Rank ${8 - index} of the board, ${quote(rank)}, ${wrong}.`];
  });
}

function problemOfRank(rank: string): string | undefined {
  const unexpected = /[^1-8KQRBNPkqrbnp]/.exec(rank);
  if (unexpected) {
    return `has '${unexpected[0]}', which is neither a piece (KQRBNP, kqrbnp) nor a digit 1-8`;
  }
  if (/\d\d/.test(rank)) {
    return "has two digits in a row; adjacent empty squares are written as one number";
  }
  let squares = 0;
  for (const symbol of rank) {
    squares += symbol > "8" ? 1 : Number(symbol);
  }
  if (squares !== 8) {
    return `describes ${squares} squares; a rank has 8`;
  }
  return undefined;
}

/** `rooks` are the squares of the rooks that may castle, `removed` the letters without a king and a rook in place. */
type CastlingReading =
  | { kind: "castling"; rooks: SquareSet; removed: string }
  | { kind: "problem"; problem: string };

interface Right {
  readonly color: Color;
  readonly side: CastlingSide;
  readonly rook: Square;
}

/** Letters that name the file of a rook (Shredder-FEN) exist in Chess960 only. */
function namesRookFiles(castling: string): boolean {
  return /[A-Ha-h]/.test(castling);
}

/** Checks the text of a castling field, without the board. */
function problemOfCastlingText(text: string): string | undefined {
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
 * begins between its rooks, is not on the a- or h-file: Stockfish drops the right there, so Kibitz must, too.
 */
function readCastling(text: string, board: Board, chess960: boolean): CastlingReading {
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

/** The longest FEN that is read, in characters; a meaningful FEN has about 90 at most. */
export const maxFenCharacters = 128;

type FenSplit = { kind: "fields"; fields: readonly string[] } | { kind: "problem"; problem: string };

/** The start position, `startpos` in UCI. */
export const standardStart = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Splits a FEN into its one to six fields. A problem found here is reported alone. */
function splitFen(text: string): FenSplit {
  if (text.length > maxFenCharacters) {
    return splitProblem(`The FEN has ${text.length} characters; the maximum is ${maxFenCharacters}.`);
  }
  // Remove ASCII blanks only: String.trim() and \s also match Unicode blanks. A line break between fields stays and
  // is refused, because it would make two lines for an engine.
  const fen = text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, "");
  if (fen === "") {
    return splitProblem("The FEN is empty.");
  }
  const unexpected = /[^ -~]/u.exec(fen)?.[0].codePointAt(0);
  if (unexpected !== undefined) {
    const name = `U+${unexpected.toString(16).toUpperCase().padStart(4, "0")}`;
    return splitProblem(`The FEN contains ${name}; it must be plain ASCII, its fields separated by spaces.`);
  }

  const fields = (fen === "startpos" ? standardStart : fen).split(/ +/);
  if (fields.includes("moves")) {
    return splitProblem("The FEN is followed by moves; send them in the field `moves`.");
  }
  if (fields.some((field) => field.endsWith(";"))) {
    return splitProblem("The FEN is followed by EPD operations; send only its first four fields.");
  }
  if (fields.length > 6) {
    return splitProblem(`The FEN has ${fields.length} fields; a FEN has at most 6.`);
  }
  return { kind: "fields", fields };
}

function splitProblem(sentence: string): FenSplit {
  return { kind: "problem", problem: sentence };
}
