import type { Board } from "chessops/board";
import { parseBoardFen } from "chessops/fen";
import type { Setup } from "chessops/setup";
import { SquareSet } from "chessops/squareSet";
import type { CastlingSide, Color, Square } from "chessops/types";
import { parseSquare, squareFile, squareFromCoords, squareRank } from "chessops/util";
import { quote } from "../text/echo.ts";
import type { Warning } from "./position.ts";

export interface FenPart {
  readonly text: string;
  /** The distance from the beginning of the client's FEN, in UTF-16 units. */
  readonly offset: number;
}

export interface FenProblem {
  readonly message: string;
  readonly part: FenPart;
}

/**
 * The rules of chess are not checked here. `completed` is the FEN with missing fields added and EPD operations removed.
 * `completed` may nevertheless be invalid.
 */
type FenReading =
  | {
      kind: "setup";
      setup: Setup;
      chess960: boolean;
      /** The castling field. */
      castling: string;
      warnings: readonly Warning[];
      placement: FenPart;
      turn: FenPart;
    }
  | { kind: "problems"; problems: readonly FenProblem[]; completed: string | undefined };

/** If `askedForChess960` is undefined, the castling field decides (X-FEN). */
export function readFen(text: string, askedForChess960: boolean | undefined): FenReading {
  const split = splitFen(text);
  if (split.kind === "problem") {
    return { kind: "problems", problems: [split.problem], completed: split.completed };
  }
  const { fields, end } = split;
  const fieldOr = (index: number, missing: string) => fields[index] ?? { text: missing, offset: end.offset };
  const placement = fieldOr(0, "");
  const board = readBoard(placement);
  const turn = fieldOr(1, "w");
  const castlingField = fieldOr(2, board.kind === "board" ? castlingAtHome(board.board) : "-");
  const [ep, halfmoves, fullmoves] = [fieldOr(3, "-"), fieldOr(4, "0"), fieldOr(5, "1")];
  const assumed =
    askedForChess960 === undefined && board.kind === "board" && isXFen(castlingField.text, board.board);
  const chess960 = askedForChess960 === true || assumed || namesRookFiles(castlingField.text);
  const castling =
    board.kind === "board" ? readCastling(castlingField.text, board.board, chess960) : undefined;
  const epProblem = messageOfEnPassant(ep.text, turn.text);

  const problems = [
    problemIn(end, messageOfShortage(fields.length)),
    ...(board.kind === "problems" ? board.problems : []),
    problemIn(turn, messageOfTurn(turn.text)),
    problemIn(
      castlingField,
      messageOfCastlingText(castlingField.text) ??
        (castling?.kind === "problem" ? castling.problem : undefined),
    ),
    problemIn(ep, epProblem),
    problemIn(halfmoves, messageOfClock("half-move clock", halfmoves.text)),
    problemIn(fullmoves, messageOfClock("move number", fullmoves.text)),
  ].filter((problem) => problem !== undefined);

  if (problems.length > 0 || board.kind !== "board" || castling?.kind !== "castling") {
    const possibleEp = epProblem === undefined ? ep : { text: "-" };
    // Some programs write `-` for an unknown clock.
    const clocks = [halfmoves.text.replace(/^-$/, "0"), fullmoves.text.replace(/^-$/, "1")];
    const completed = [
      ...[placement, turn, castlingField, possibleEp].map(({ text }) => text),
      ...clocks,
    ].join(" ");
    const isCompleted =
      fields.length < 4 || epProblem !== undefined || halfmoves.text === "-" || fullmoves.text === "-";
    // If the square fits the last move of a pawn, the side to move can be the mistake instead of the square.
    const isAmbiguous = epProblem !== undefined && board.kind === "board" && isPassed(ep.text, board.board);
    if (isAmbiguous) {
      return { kind: "problems", problems, completed: undefined };
    }
    return { kind: "problems", problems, completed: isCompleted ? completed : undefined };
  }

  const setup: Setup = {
    board: board.board,
    pockets: undefined,
    turn: turn.text === "w" ? "white" : "black",
    castlingRights: castling.rooks,
    epSquare: parseSquare(ep.text),
    remainingChecks: undefined,
    halfmoves: Number(halfmoves.text),
    fullmoves: Math.max(Number(fullmoves.text), 1),
  };
  const warnings = [
    assumed ? warningOfChess960(castlingField.text) : warningOfCastling(castling.removed),
    warningOfClocks(fields.length, fullmoves.text),
  ];
  return {
    kind: "setup",
    setup,
    chess960,
    castling: castlingField.text,
    warnings: warnings.filter((warning) => warning !== undefined),
    placement,
    turn,
  };
}

function problemIn(part: FenPart, message: string | undefined): FenProblem | undefined {
  return message === undefined ? undefined : { message, part };
}

/** Returns the castling rights if kings and rooks on their home squares have never moved. */
function castlingAtHome(board: Board): string {
  const reading = readCastling("KQkq", board, false);
  const removed = reading.kind === "castling" ? reading.removed : "KQkq";
  return [..."KQkq"].filter((letter) => !removed.includes(letter)).join("") || "-";
}

function messageOfShortage(fieldCount: number): string | undefined {
  if (fieldCount >= 4) {
    return undefined;
  }
  const count = fieldCount === 1 ? "1 field" : `${fieldCount} fields`;
  return `The FEN has ${count}; board, side to move, castling and en passant are required.`;
}

function messageOfTurn(text: string): string | undefined {
  return text === "w" || text === "b" ? undefined : `The side to move, ${quote(text)}, must be 'w' or 'b'.`;
}

/** True if a pawn can have passed this square with its last move. */
function isPassed(text: string, board: Board): boolean {
  const square = parseSquare(text);
  const rank = square === undefined ? undefined : squareRank(square);
  if (square === undefined || (rank !== 2 && rank !== 5)) {
    return false;
  }
  const step = rank === 2 ? 8 : -8;
  const pawn = board.get(square + step);
  const isEmpty = !board.occupied.has(square) && !board.occupied.has(square - step);
  return isEmpty && pawn?.role === "pawn" && pawn.color === (rank === 2 ? "white" : "black");
}

function messageOfEnPassant(text: string, turn: string): string | undefined {
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

function messageOfClock(name: string, text: string): string | undefined {
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

/** Returns the warning that a position with these castling rights was read as Chess960. */
export function warningOfChess960(rights: string): Warning {
  const message = `The castling rights ${rights} do not fit standard chess, so the position was read as Chess960.`;
  return { code: "chess960_assumed", message, field: "fen" };
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

type BoardReading = { kind: "board"; board: Board } | { kind: "problems"; problems: readonly FenProblem[] };

/** Validates the text first, because chessops accepts "44" for eight empty squares, and "~" after a piece. */
function readBoard(placement: FenPart): BoardReading {
  const problems = problemsOfBoard(placement);
  return problems.length > 0
    ? { kind: "problems", problems }
    : { kind: "board", board: parseBoardFen(placement.text).unwrap() };
}

function problemsOfBoard(placement: FenPart): readonly FenProblem[] {
  const { text } = placement;
  const ranks = text.split("/");
  if (ranks.length !== 8) {
    const count = ranks.length === 1 ? "1 rank" : `${ranks.length} ranks`;
    const message = `The board field ${quote(text)} has ${count}; a board has 8, separated by '/'.`;
    return [{ message, part: placement }];
  }
  let { offset } = placement;
  return ranks.flatMap((rank, index) => {
    const wrong = problemOfRank({ text: rank, offset });
    offset += rank.length + 1;
    return wrong === undefined
      ? []
      : [{ ...wrong, message: `Rank ${8 - index} of the board, ${quote(rank)}, ${wrong.message}.` }];
  });
}

/** The message is the end of a sentence that begins with the rank. */
function problemOfRank(part: FenPart): FenProblem | undefined {
  const { text: rank, offset } = part;
  const unexpected = /[^1-8KQRBNPkqrbnp]/.exec(rank);
  if (unexpected) {
    const message = `has '${unexpected[0]}', which is neither a piece (KQRBNP, kqrbnp) nor a digit 1-8`;
    return { message, part: { text: unexpected[0], offset: offset + unexpected.index } };
  }
  const digits = /\d\d/.exec(rank);
  if (digits) {
    const message = "has two digits in a row; adjacent empty squares are written as one number";
    return { message, part: { text: digits[0], offset: offset + digits.index } };
  }
  let squares = 0;
  for (const symbol of rank) {
    squares += symbol > "8" ? 1 : Number(symbol);
  }
  if (squares !== 8) {
    return { message: `describes ${squares} squares; a rank has 8`, part };
  }
  return undefined;
}

/** `rooks`: the squares of rooks that may castle. `removed`: letters of impossible castling rights. */
type CastlingReading =
  | { kind: "castling"; rooks: SquareSet; removed: string }
  | { kind: "problem"; problem: string };

interface Right {
  readonly color: Color;
  readonly side: CastlingSide;
  readonly rook: Square;
}

/**
 * Returns true if the rights `KQkq` are impossible in standard chess but possible in Chess960 (X-FEN). Both sides begin a game of
 * Chess960 with king and rooks on the same files. If only one side has rights and its king is on the e-file, the game is more
 * likely standard chess, and a rook has left its corner.
 */
function isXFen(text: string, board: Board): boolean {
  const standard = readCastling(text, board, false);
  const shuffled = readCastling(text, board, true);
  const fits = (reading: CastlingReading) => reading.kind === "castling" && reading.removed === "";
  if (namesRookFiles(text) || fits(standard) || !fits(shuffled)) {
    return false;
  }
  const rights = [...text].flatMap((letter) => rightFromLetter(letter, board, true) ?? []);
  const white = rights.filter(({ color }) => color === "white");
  const black = rights.filter(({ color }) => color === "black");
  const kingFile = (color: Color) => squareFile(board.kingOf(color) ?? 0);
  if (white.length === 0 || black.length === 0) {
    return kingFile(white.length > 0 ? "white" : "black") !== 4;
  }
  const isMirrored = white.every(({ side, rook }) =>
    black.every((other) => other.side !== side || squareFile(other.rook) === squareFile(rook)),
  );
  return isMirrored && kingFile("white") === kingFile("black");
}

/** Returns true for Shredder-FEN, in which a letter names the file of a rook. A Shredder-FEN is always Chess960. */
function namesRookFiles(castling: string): boolean {
  return /[A-Ha-h]/.test(castling);
}

function messageOfCastlingText(text: string): string | undefined {
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
 * In standard chess, a castling right requires the king on the e-file and the rook in the corner.
 * In Chess960, `K` and `Q` mean the outermost rook on their side (X-FEN).
 * In Chess960, a king on the a-file or h-file has no castling rights, as in Stockfish.
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

/** A useful FEN has at most about 90 characters. */
export const maxFenCharacters = 128;

type FenSplit =
  | { kind: "fields"; fields: readonly FenPart[]; end: FenPart }
  | { kind: "problem"; problem: FenProblem; completed: string | undefined };

export const standardStart = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Matches the four fields of an EPD (a FEN with operations). Also matches two move counters after these fields. */
const positionOfEpd = /^((?:[^ ;]+ +){3}[^ ;]+)( +\d+ +\d+(?![^ ;]))? */;
const clockOfEpd = /(?:^| )(?:\d|(?:hmvc|fmvn)(?: |$))/;

function splitFen(text: string): FenSplit {
  if (text.length > maxFenCharacters) {
    const message = `The FEN has ${text.length} characters; the maximum is ${maxFenCharacters}.`;
    return splitProblem(message, maxFenCharacters, text.length);
  }
  // Report blanks beyond ASCII, which \s also matches. A line break would end the line that is sent to the engine.
  const trimmed = text.replace(/[ \t\n\v\f\r]+$/, "");
  const start = trimmed.search(/[^ \t\n\v\f\r]/);
  if (start < 0) {
    return splitProblem("The FEN is empty.", 0, 0);
  }
  const fen = trimmed.slice(start);
  const unexpected = /[^ -~]/u.exec(fen);
  if (unexpected) {
    const [character] = unexpected;
    const name = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
    const message = `The FEN contains ${name}; it must be plain ASCII, its fields separated by spaces.`;
    const offset = start + unexpected.index;
    return splitProblem(message, offset, offset + character.length);
  }

  const fields = [...(fen === "startpos" ? standardStart : fen).matchAll(/[^ ]+/g)].map(
    ({ 0: field, index }): FenPart => ({ text: field, offset: start + index }),
  );
  const offsetOf = (index: number) => fields[index]?.offset ?? trimmed.length;
  const moves = fields.findIndex((field) => field.text === "moves");
  if (moves >= 0) {
    return splitProblem("The FEN is followed by moves; send them in the field `moves`.", offsetOf(moves));
  }
  if (/;(?: |$)/.test(fen)) {
    const [head = "", position, clocks] = positionOfEpd.exec(fen) ?? [];
    const isWhole =
      position !== undefined && (clocks !== undefined || !clockOfEpd.test(fen.slice(head.length)));
    const completed = isWhole ? `${position}${clocks ?? ""}`.replaceAll(/ +/g, " ") : undefined;
    const message = "The FEN is followed by EPD operations; send only its first four fields, and its clocks.";
    return { ...splitProblem(message, start + head.length), completed };
  }
  if (fields.length > 6) {
    return splitProblem(`The FEN has ${fields.length} fields; a FEN has at most 6.`, offsetOf(6));
  }
  return { kind: "fields", fields, end: { text: "", offset: trimmed.length } };

  function splitProblem(message: string, from: number, to = trimmed.length) {
    const part = { text: text.slice(from, to), offset: from };
    return { kind: "problem", problem: { message, part }, completed: undefined } as const;
  }
}
