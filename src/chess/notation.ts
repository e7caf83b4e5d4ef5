import type { Chess } from "chessops/chess";
import { makeSanAndPlay } from "chessops/san";
import { makeSquare, squareFile } from "chessops/util";
import { isCastling, type LegalMove, moveFromUci, normalFen, targetSquare, uciFromMove } from "./moves.ts";
import type { Position } from "./position.ts";

export type PromotionPiece = "queen" | "rook" | "bishop" | "knight";

/** A move in the notations that people and programs read. */
export interface MoveDescription {
  /** Castling is e1g1, in Chess960 king takes rook, e1h1; `from` and `to` agree with it. */
  readonly uci: string;
  readonly san: string;
  readonly from: string;
  readonly to: string;
  readonly promotion: PromotionPiece | undefined;
  readonly capture: boolean;
  /** True on mate too. */
  readonly check: boolean;
  readonly castling: "kingside" | "queenside" | undefined;
  /** Written as `Position.fen` is. */
  readonly fenAfter: string;
}

export function isLegal(position: Position, uci: string): boolean {
  return moveFromUci(position.board, uci) !== undefined;
}

/** Undefined when the move is not legal. */
export function describeMove(position: Position, uci: string): MoveDescription | undefined {
  return describeAndPlay(position.board.clone(), uci, position.chess960);
}

/** Describes the move after `uci`, as for an engine's ponder move. Undefined when one of the two is not legal. */
export function describeReply(
  position: Position,
  uci: string,
  replyUci: string,
): MoveDescription | undefined {
  const chess = position.board.clone();
  const move = moveFromUci(chess, uci);
  if (move === undefined) {
    return undefined;
  }
  chess.play(move);
  return describeAndPlay(chess, replyUci, position.chess960);
}

/** Both lists have the same length, and end before the first move that is not legal. */
export function describeLine(
  position: Position,
  ucis: readonly string[],
): { moves: string[]; san: string[] } {
  const chess = position.board.clone();
  const moves: string[] = [];
  const san: string[] = [];
  for (const uci of ucis) {
    const move = moveFromUci(chess, uci);
    if (move === undefined) {
      break;
    }
    moves.push(uciFromMove(chess, move, position.chess960));
    san.push(makeSanAndPlay(chess, move));
  }
  return { moves, san };
}

function describeAndPlay(chess: Chess, text: string, chess960: boolean): MoveDescription | undefined {
  const move = moveFromUci(chess, text);
  if (move === undefined) {
    return undefined;
  }
  const before = {
    uci: uciFromMove(chess, move, chess960),
    from: makeSquare(move.from),
    to: makeSquare(targetSquare(chess, move, chess960)),
    promotion: promotionOf(move),
    capture: isCapture(chess, move),
    castling: castlingOf(chess, move),
  };
  const san = makeSanAndPlay(chess, move);
  return { ...before, san, check: chess.isCheck(), fenAfter: normalFen(chess, chess960) };
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

function isCapture(chess: Chess, move: LegalMove): boolean {
  if (isCastling(chess, move)) {
    return false;
  }
  const enPassant = chess.board.pawn.has(move.from) && squareFile(move.from) !== squareFile(move.to);
  return enPassant || chess.board.occupied.has(move.to);
}
