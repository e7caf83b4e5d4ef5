import type { Chess } from "chessops/chess";
import { makeBoardFen, makeCastlingFen } from "chessops/fen";
import { makeSan, makeSanAndPlay, parseSan } from "chessops/san";
import { SquareSet } from "chessops/squareSet";
import { CASTLING_SIDES, COLORS, FILE_NAMES, isDrop, type NormalMove, type Square } from "chessops/types";
import { kingCastlesTo, makeSquare, makeUci, parseUci, squareFile } from "chessops/util";
import { quote } from "../text/echo.ts";
import type { Position, PositionViolation } from "./position.ts";
import { plainForm, readingsOfSpelling, readWrittenMove } from "./written-move.ts";

/**
 * `index` is the index of the move in the request. `why` is the result of {@link whyNotPlayed}. `fen` is the FEN before the
 * move.
 */
export function violationOfMove(text: string, index: number, why: string, fen: string): PositionViolation {
  const message = sentenceOf(text, why, `moves[${index}]`, fen);
  return { code: "illegal_move", field: "moves", index, message };
}

/**
 * `place` is the path to the text, such as `search_moves[2]`, and `note` follows the reason in the message. `meant` contains the
 * legal moves that the text may mean.
 */
export function explainMove(
  chess: Chess,
  text: string,
  place: string,
  chess960: boolean,
  note: string,
): { readonly message: string; readonly meant: readonly string[] } {
  const meant = meaningsOf(chess, text).map(({ move }) => uciFromMove(chess, move, chess960));
  const why = `${whyNotPlayed(chess, text, chess960)}${note}`;
  const message = sentenceOf(text, why, place, normalFen(chess, chess960));
  return { message, meant };
}

/** Matches a text with a move number, a blank, a glyph such as `!?`, or a figurine such as `♘`. */
const decoratedText = /^\d+\.|\s|[!?]$|[^\0-~]/;
const howWritten = ": each move is written by itself, in SAN (Nf3) or UCI (g1f3), without number or glyph";

/** Returns the end of a sentence that begins with the text, such as "is not a legal move for White". */
export function whyNotPlayed(chess: Chess, text: string, chess960: boolean): string {
  const mover = chess.turn === "white" ? "White" : "Black";
  const [meant, ...others] = meaningsOf(chess, text);
  if (others.length > 0) {
    const ucis = [meant, ...others].map((one) => one && uciFromMove(chess, one.move, chess960));
    return `matches more than one legal move for ${mover}: ${ucis.join(", ")}`;
  }
  const how = meant
    ? ` as it is written: send ${meant.spelling}`
    : decoratedText.test(text.trim())
      ? howWritten
      : "";
  return `is not a legal move for ${mover}${how}`;
}

function sentenceOf(text: string, why: string, place: string, fen: string): string {
  return `${quote(text)} ${why} (${place}, in the position ${fen}).`;
}

/** Castling is stored as a move of the king to the square of the rook, even in standard chess. */
export type LegalMove = NormalMove;

/** Reads a move in UCI or SAN. Returns undefined if no legal move matches, or if several legal moves match. */
export function moveFromText(chess: Chess, text: string): LegalMove | undefined {
  const written = text.trim();
  const move = moveFromUci(chess, written) ?? moveFromSan(chess, written);
  // `bc4` may be a move of a pawn or of a bishop.
  return move && bishopOrPawn.test(written) && moveFromSan(chess, `B${written.slice(1)}`) ? undefined : move;
}

const bishopOrPawn = /^b[a-h][1-8][+#]?$/;

/**
 * Returns the legal move that a text probably means, such as Nf3 for `nf3`, `1.Nf3!` or `♘f3`.
 * The UCI move `b2b4` is never read as a bishop's move, and `Bc4` is never read as a pawn's move.
 */
export function meaningOf(chess: Chess, text: string): Meaning | undefined {
  const move = moveFromText(chess, text);
  if (move) {
    return { move, spelling: text.trim() };
  }
  const [meant, another] = meaningsOf(chess, text);
  return another ? undefined : meant;
}

/** Accepts castling as e1g1 and as e1h1 in every variant. */
function moveFromUci(chess: Chess, text: string): LegalMove | undefined {
  if (!/^([a-h][1-8]){2}[qrbnQRBN]?$/.test(text)) {
    return undefined;
  }
  const move = parseUci(text);
  if (move === undefined || isDrop(move)) {
    return undefined;
  }
  if (!chess.board.king.has(move.from)) {
    return chess.isLegal(move) ? move : undefined;
  }

  // Do not use isLegal() of chessops here: it accepts every king's move of two squares as castling, such as f1d1 in Chess960.
  const to = rookOfCastling(chess, move.from, move.to) ?? move.to;
  const legal = move.promotion === undefined && chess.dests(move.from).has(to);
  return legal ? { from: move.from, to } : undefined;
}

/** Check signs are optional. Castling is accepted with letters (`O-O`) and with zeros (`0-0`). */
function moveFromSan(chess: Chess, text: string): LegalMove | undefined {
  const san = /^0-0(-0)?[+#]?$/.test(text) ? text.replaceAll("0", "O") : text;
  const move = parseSan(chess, san);
  if (move === undefined || isDrop(move)) {
    return undefined;
  }
  // If the king stands beside its rook on h1, chessops reads Kh1 as castling.
  return isCastling(chess, move) === san.startsWith("O") ? move : undefined;
}

interface Meaning {
  readonly move: LegalMove;
  readonly spelling: string;
}

/** Returns two moves for `Nd2` if two knights can move to d2. */
function meaningsOf(chess: Chess, text: string): readonly Meaning[] {
  const meanings = readingsOf(chess, text).flatMap((reading): readonly Meaning[] => {
    const move = moveFromUci(chess, reading) ?? moveFromSan(chess, reading);
    return move ? [{ move, spelling: reading }] : fullyWritten(chess, reading);
  });
  return [...new Map(meanings.map((one) => [makeUci(one.move), one])).values()];
}

/** Returns each move that an incomplete SAN may mean, spelled with its square of origin: `Nb1d2` for `Nd2`. */
function fullyWritten(chess: Chess, text: string): readonly Meaning[] {
  const [, role, file = "", rank = "", target] =
    /^([NBRQ])([a-h])?([1-8])?[-x]?([a-h][1-8])[+#]?$/.exec(text) ?? [];
  const origins = role === undefined ? [] : [...chess.board[chess.turn]].map(makeSquare);
  return origins.flatMap((origin) => {
    const spelling = `${role}${origin}${target}`;
    const meant = origin.includes(file) && origin.includes(rank);
    const move = meant ? moveFromSan(chess, spelling) : undefined;
    return move ? [{ move, spelling }] : [];
  });
}

/** The maximum number of characters of a move. Long example: `123...Qa1xb2=Q++ e.p.!?`. */
const longestMove = 40;
/** Matches an optional move number and an optional letter `P` for a pawn. */
const moveNumber = /^(?:(\d{1,4})(\.{1,3}|…)\s*)?P?/i;
const behindMove = /^(?:\s*e\.?p\.?)?\s*[!?]{0,2}[.,;]?$/i;

/** Returns possible spellings of a text in SAN or UCI, such as `O-O` for `0-0`. */
function readingsOf({ turn, fullmoves }: Chess, text: string): readonly string[] {
  const plain = plainForm(text.trim().slice(0, longestMove + 1));
  const [before = "", number, dots] = moveNumber.exec(plain) ?? [];
  const isNext =
    number === undefined || (Number(number) === fullmoves && (dots === ".") === (turn === "white"));
  const written = readWrittenMove(plain.slice(before.length));
  const isAlone = written && behindMove.test(plain.slice(before.length + written.length));
  return isNext && isAlone && plain.length <= longestMove ? readingsOfSpelling(written.spelling) : [];
}

/** Call this before the move is played. */
function isCastling(chess: Chess, move: LegalMove): boolean {
  return chess.board[chess.turn].has(move.to);
}

/** For castling, UCI requires the king's new square in standard chess, and the rook's square in Chess960. */
function targetSquare(chess: Chess, move: LegalMove, chess960: boolean): Square {
  if (chess960 || !isCastling(chess, move)) {
    return move.to;
  }
  return kingCastlesTo(chess.turn, move.to < move.from ? "a" : "h");
}

export function uciFromMove(chess: Chess, move: LegalMove, chess960: boolean): string {
  return makeUci({ ...move, to: targetSquare(chess, move, chess960) });
}

/** Returns the square of the rook if a king's move such as e1g1 means castling. A move of one square never means castling. */
function rookOfCastling(chess: Chess, from: Square, to: Square): Square | undefined {
  if (Math.abs(to - from) < 2) {
    return undefined;
  }
  const side = CASTLING_SIDES.find((side) => kingCastlesTo(chess.turn, side) === to);
  return side && chess.castles.rook[chess.turn][side];
}

/**
 * Writes a FEN with six fields. The en passant square is written only if a capture on this square is legal.
 * In Chess960, castling rights are file letters (Shredder-FEN), which show the variant if the client sends the FEN back.
 */
export function normalFen(chess: Chess, chess960: boolean): string {
  const castling = chess960 ? shredderCastling(chess) : castlingOfStandard(chess);
  return `${placementFields(chess, castling)} ${clockOf(chess.halfmoves)} ${clockOf(chess.fullmoves)}`;
}

/** Two positions with the same key count as a repetition. The key does not contain move counters. */
export function repetitionKey(chess: Chess): string {
  return placementFields(chess, castlingOfStandard(chess));
}

function clockOf(moves: number): number {
  return Math.min(moves, 9999);
}

function placementFields(chess: Chess, castling: string): string {
  // `epSquare` is set after each double step of a pawn. Only toSetup() checks if a capture is legal.
  const square = chess.epSquare === undefined ? undefined : chess.toSetup().epSquare;
  const enPassant = square === undefined ? "-" : makeSquare(square);
  return `${makeBoardFen(chess.board)} ${chess.turn === "white" ? "w" : "b"} ${castling} ${enPassant}`;
}

function castlingOfStandard({ board, castles }: Chess): string {
  return makeCastlingFen(board, castles.castlingRights);
}

function shredderCastling(chess: Chess): string {
  const letters = COLORS.flatMap((color) =>
    [...chess.castles.castlingRights.intersect(SquareSet.backrank(color)).reversed()].map((rook) => {
      const file = FILE_NAMES[squareFile(rook)] ?? "";
      return color === "white" ? file.toUpperCase() : file;
    }),
  );
  return letters.join("") || "-";
}

type PromotionPiece = "queen" | "rook" | "bishop" | "knight";

export interface MoveDescription {
  /** Castling is e1g1 in standard chess, and e1h1 in Chess960. `from` and `to` are the two squares of this text. */
  readonly uci: string;
  readonly san: string;
  readonly from: string;
  readonly to: string;
  readonly promotion: PromotionPiece | undefined;
  readonly capture: boolean;
  readonly check: boolean;
  readonly castling: "kingside" | "queenside" | undefined;
  /** In normal form. */
  readonly fenAfter: string;
}

export function isLegal(position: Position, uci: string): boolean {
  return moveFromUci(position.board, uci) !== undefined;
}

export function describeMove(position: Position, uci: string): MoveDescription | undefined {
  return describeVariation(position, [uci], 1).first[0];
}

/** Describes the expected reply to the best move. Returns undefined if the best move or the reply is illegal. */
export function describeReply(
  position: Position,
  uci: string,
  replyUci: string,
): MoveDescription | undefined {
  return describeVariation(position, [uci, replyUci], 2).first[1];
}

/** Describes the moves before the first illegal move. `first` describes at most `inFull` of these moves in detail. */
export function describeVariation(
  position: Position,
  ucis: readonly string[],
  inFull: number,
): { moves: string[]; san: string[]; first: MoveDescription[] } {
  const { chess960 } = position;
  const chess = position.board.clone();
  const moves: string[] = [];
  const san: string[] = [];
  const first: MoveDescription[] = [];
  for (const uci of ucis) {
    const move = moveFromUci(chess, uci);
    if (move === undefined) {
      break;
    }
    if (first.length < inFull) {
      const described = describeAndPlay(chess, move, chess960);
      first.push(described);
      moves.push(described.uci);
      san.push(described.san);
    } else {
      moves.push(uciFromMove(chess, move, chess960));
      san.push(makeSanAndPlay(chess, move));
    }
  }
  return { moves, san, first };
}

export function describeAndPlay(chess: Chess, move: LegalMove, chess960: boolean): MoveDescription {
  const before = {
    uci: uciFromMove(chess, move, chess960),
    from: makeSquare(move.from),
    to: makeSquare(targetSquare(chess, move, chess960)),
    promotion: promotionOf(move),
    capture: isCapture(chess, move),
    castling: castlingOf(chess, move),
  };
  const san = makeSanAndPlay(chess, move);
  return { ...before, san, check: /[+#]$/.test(san), fenAfter: normalFen(chess, chess960) };
}

function promotionOf(move: LegalMove): PromotionPiece | undefined {
  return move.promotion === "pawn" || move.promotion === "king" ? undefined : move.promotion;
}

function castlingOf(chess: Chess, move: LegalMove): "kingside" | "queenside" | undefined {
  if (!isCastling(chess, move)) {
    return undefined;
  }
  return move.to < move.from ? "queenside" : "kingside";
}

export function isCapture(chess: Chess, move: LegalMove): boolean {
  if (isCastling(chess, move)) {
    return false;
  }
  const enPassant = chess.board.pawn.has(move.from) && squareFile(move.from) !== squareFile(move.to);
  return enPassant || chess.board.occupied.has(move.to);
}

/** @param origins squares of pieces of the side to move */
export function legalMovesOf(chess: Chess, origins = chess.board[chess.turn]): readonly LegalMove[] {
  const moves: LegalMove[] = [];
  const context = chess.ctx();
  for (const from of origins) {
    const isPawn = chess.board.pawn.has(from);
    for (const to of chess.dests(from, context)) {
      const promotes = isPawn && SquareSet.backranks().has(to);
      moves.push(...(promotes ? promotions.map((promotion) => ({ from, to, promotion })) : [{ from, to }]));
    }
  }
  return moves;
}

const promotions = ["queen", "rook", "bishop", "knight"] as const;

/** Returns all legal moves in UCI. Castling is e1g1 in standard chess and e1h1 in Chess960, as engines expect. */
export function legalUcisOf({ board, chess960 }: Position): readonly string[] {
  return legalMovesOf(board).map((move) => uciFromMove(board, move, chess960));
}

export interface MoveName {
  readonly san: string;
  readonly uci: string;
}

export function nameLegalMoves({ board, chess960 }: Position): readonly MoveName[] {
  return legalMovesOf(board)
    .map((move) => ({ san: makeSan(board, move), uci: uciFromMove(board, move, chess960) }))
    .toSorted((one, other) => (one.san < other.san ? -1 : 1));
}

export function isInCheck({ board }: Position): boolean {
  return board.isCheck();
}
