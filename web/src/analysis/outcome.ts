import type { Position } from "../../../src/chess/position.ts";
import { colourName } from "../board/words.ts";

const draws = {
  stalemate: "Stalemate. The game is drawn.",
  insufficient_material: "Neither side can mate any more. The game is drawn.",
  seventyfive_moves: "75 moves without a capture or pawn move. The game is drawn.",
  fivefold_repetition: "The position has come five times. The game is drawn.",
};
const claims = {
  fifty_moves: "50 moves without a capture or pawn move",
  threefold_repetition: "the position has come three times",
};

/** Returns undefined if the game continues and no draw can be claimed. */
export function outcomeInWords({ terminal, drawClaim, turn }: Position): string | undefined {
  if (terminal) {
    return terminal.reason === "checkmate"
      ? `Checkmate. ${colourName(terminal.winner ?? "white")} wins.`
      : draws[terminal.reason];
  }
  return drawClaim && `${colourName(turn)} may claim a draw: ${claims[drawClaim]}.`;
}
