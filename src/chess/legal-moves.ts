import { describeMove } from "./moves.ts";
import type { Position } from "./position.ts";
import { legalMoves } from "./search-moves.ts";

/** A move as people write it, and as programs do. */
export interface MoveName {
  readonly san: string;
  /** Castling is e1g1, in Chess960 king takes rook, e1h1. */
  readonly uci: string;
}

/** Moves that are named in one piece: about half a millisecond. */
const movesAtOnce = 20;

/**
 * All legal moves by their names, in the alphabetical order of SAN; none where the game is over by mate or stalemate.
 * Yields now and again.
 */
export function* nameLegalMoves(position: Position): Generator<void, readonly MoveName[]> {
  const names: MoveName[] = [];
  for (const [index, uci] of legalMoves(position).entries()) {
    if (index > 0 && index % movesAtOnce === 0) {
      yield;
    }
    const { san = uci } = describeMove(position, uci) ?? {};
    names.push({ san, uci });
  }
  return names.toSorted((one, other) => (one.san < other.san ? -1 : 1));
}

/** True if the king of the side to move is attacked. */
export function isInCheck({ board }: Position): boolean {
  return board.isCheck();
}
