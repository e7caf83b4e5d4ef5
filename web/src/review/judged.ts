import { GamePhase, Judgement, MoveLabel, type MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Marked } from "../graph/mark.tsx";

export interface Judged {
  readonly name: Marked;
  readonly title: string;
  readonly many: string;
  readonly sign: string;
}

const judgements: ReadonlyMap<Judgement | undefined, Judged> = new Map([
  [Judgement.INACCURACY, { name: "inaccuracy", title: "Inaccuracy", many: "Inaccuracies", sign: "?!" }],
  [Judgement.MISTAKE, { name: "mistake", title: "Mistake", many: "Mistakes", sign: "?" }],
  [Judgement.BLUNDER, { name: "blunder", title: "Blunder", many: "Blunders", sign: "??" }],
]);

export const allJudged: readonly Judged[] = [...judgements.values()];

/** Returns undefined for a good move, or if the judgement is unknown. */
export function judgedOf(move: MoveReview | undefined): Judged | undefined {
  return judgements.get(move?.judgement);
}

/** Returns the ply of the nearest inaccuracy, mistake or blunder. */
export function nextJudged(
  moves: readonly MoveReview[],
  ply: number,
  direction: "before" | "behind",
): number | undefined {
  const plies = moves.filter((move) => judgedOf(move) !== undefined).map((move) => move.ply);
  return direction === "before" ? plies.findLast((other) => other < ply) : plies.find((other) => other > ply);
}

export const phases = [
  { phase: GamePhase.OPENING, name: "opening", title: "Opening" },
  { phase: GamePhase.MIDDLEGAME, name: "middlegame", title: "Middlegame" },
  { phase: GamePhase.ENDGAME, name: "endgame", title: "Endgame" },
] as const;

const labels: ReadonlyMap<MoveLabel, string> = new Map([
  [MoveLabel.BOOK, "Book move"],
  [MoveLabel.FORCED, "The only legal move"],
  [MoveLabel.BEST, "Best move"],
  [MoveLabel.ONLY_MOVE, "The only good move"],
]);

/** Returns no labels for a move with a judgement, because a label such as "Book move" would contradict the judgement. */
export function remarksOn(move: MoveReview): {
  readonly comment: string;
  readonly labels: readonly string[];
} {
  const judged = judgedOf(move);
  const best = move.best?.move?.uci === move.move?.uci ? undefined : move.best?.move?.san;
  const known = judged ? [] : move.labels.flatMap((label) => labels.get(label) ?? []);
  const isBetterSaid = best !== undefined && known.length === 0;
  const parts = [...(judged ? [`${judged.title}.`] : []), ...(isBetterSaid ? [`${best} was best.`] : [])];
  return { comment: parts.join(" "), labels: known };
}
