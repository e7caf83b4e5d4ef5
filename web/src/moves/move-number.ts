import type { Position } from "../../../src/chess/position.ts";
import type { GameNode } from "../game/game.ts";

/** Returns `12.` for White and `12…` for Black. `index` is 0 for the next move and -1 for the previous move. */
export function moveNumber({ turn, board }: Pick<Position, "turn" | "board">, index = -1): string {
  const plies = index + (turn === "white" ? 0 : 1);
  return `${board.fullmoves + Math.floor(plies / 2)}${plies % 2 === 0 ? "." : "…"}`;
}

export function numberedMove({ position, move }: Pick<GameNode, "position" | "move">): string {
  return `${moveNumber(position)} ${move?.san ?? ""}`;
}
