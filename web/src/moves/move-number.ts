import type { Position } from "../../../src/chess/position.ts";
import type { GameNode } from "../game/game.ts";

/**
 * Returns the number of a move: `12.` for White, `12…` for Black.
 *
 * @param index of the move in a line that begins at the position; -1 for the move that led to it
 */
export function moveNumber({ turn, board }: Pick<Position, "turn" | "board">, index = -1): string {
  const plies = index + (turn === "white" ? 0 : 1);
  return `${board.fullmoves + Math.floor(plies / 2)}${plies % 2 === 0 ? "." : "…"}`;
}

/** A move with its number: `12. Nf3`, `12… Nf6`. */
export function numberedMove({ position, move }: Pick<GameNode, "position" | "move">): string {
  return `${moveNumber(position)} ${move?.san ?? ""}`;
}
