import { GamePhase, Judgement, MoveLabel, type MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Marked } from "../graph/mark.tsx";

/** How bad a move was: the words for it, and its sign behind a move. */
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

/** Returns how a bad move is judged; undefined for other moves, and while it is unknown. */
export function judgedOf(move: MoveReview | undefined): Judged | undefined {
  return judgements.get(move?.judgement);
}

/** The ply of the nearest judged move before or behind a ply; undefined if there is none. */
export function nextJudged(
  moves: readonly MoveReview[],
  ply: number,
  direction: "before" | "behind",
): number | undefined {
  const plies = moves.filter((move) => judgedOf(move) !== undefined).map((move) => move.ply);
  return direction === "before" ? plies.findLast((other) => other < ply) : plies.find((other) => other > ply);
}

/** The phases of a game with their names in the API. */
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

/**
 * Returns the remarks on a move: its judgement with the better move, or else its labels, or else the better move alone. A label such as
 * "Book move" beside a judgement would contradict it. Labels that this page does not know are left out.
 */
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
