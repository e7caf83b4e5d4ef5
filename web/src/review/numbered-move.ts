import type { GameNode } from "../game/game.ts";
import { moveNumber } from "../moves/move-number.ts";

/** A move with its number: `12. Nf3`, `12… Nf6`. */
export function numberedMove({ position, move }: Pick<GameNode, "position" | "move">): string {
  return `${moveNumber(position)} ${move?.san ?? ""}`;
}
