import type { Position } from "../../../src/chess/position.ts";
import type { GameNode } from "../game/game.ts";

/**
 * Returns the move number: `12.` for White, `12…` for Black.
 *
 * @param index 0 for the first move after the position; -1 for the move before the position
 */
export function moveNumber({ turn, board }: Pick<Position, "turn" | "board">, index = -1): string {
  const plies = index + (turn === "white" ? 0 : 1);
  return `${board.fullmoves + Math.floor(plies / 2)}${plies % 2 === 0 ? "." : "…"}`;
}

/** Returns, for example, `12. Nf3` or `12… Nf6`. */
export function numberedMove({ position, move }: Pick<GameNode, "position" | "move">): string {
  return `${moveNumber(position)} ${move?.san ?? ""}`;
}
