import type { Position } from "../chess/position.ts";
import type { Game } from "./game.ts";
import type { GameReview, MoveReview } from "./review.ts";

/** Returns a sentence with the accuracies and the worst mistake or blunder. */
export function summarizeReview({ positions }: Pick<Game, "positions">, review: GameReview): string {
  return `${playedOf(review)}; ${turnedOf(positions, review)}.`;
}

function playedOf({ players: { white, black } }: GameReview): string {
  return white.accuracy === undefined || black.accuracy === undefined
    ? "The game is too short for accuracies"
    : `White played with ${white.accuracy.toFixed(1)}% accuracy, Black with ${black.accuracy.toFixed(1)}%`;
}

function turnedOf(positions: readonly Position[], { moves }: GameReview): string {
  const worst = moves.reduce<MoveReview | undefined>(
    (found, move) => (isGrave(move) && move.winPercentLoss > (found?.winPercentLoss ?? -1) ? move : found),
    undefined,
  );
  return worst === undefined
    ? "there were no mistakes or blunders"
    : `the game turned at ${numberOf(positions, worst)} ${worst.move.san} (${worst.judgement})`;
}

function isGrave({ judgement }: MoveReview): boolean {
  return judgement === "mistake" || judgement === "blunder";
}

/** Returns the number of a move, such as `12.` for White or `12…` for Black. */
function numberOf(positions: readonly Position[], { ply }: MoveReview): string {
  const before = positions[ply - 1];
  return `${before?.fen.split(" ").at(-1)}${before?.turn === "black" ? "…" : "."}`;
}
