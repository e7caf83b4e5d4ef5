import type { Chess } from "chessops/chess";
import { makeSan } from "chessops/san";
import { SquareSet } from "chessops/squareSet";
import { type LegalMove, uciFromMove } from "./moves.ts";
import type { Position } from "./position.ts";

export function legalMovesOf(chess: Chess): readonly LegalMove[] {
  const moves: LegalMove[] = [];
  for (const [from, targets] of chess.allDests()) {
    const isPawn = chess.board.pawn.has(from);
    for (const to of targets) {
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
