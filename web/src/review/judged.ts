import { GamePhase, Judgement, MoveLabel, type MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";

/** How bad a move was: the word for it, its sign behind a move, and its shape in the graph. */
export interface Judged {
  readonly name: "inaccuracy" | "mistake" | "blunder";
  readonly sign: string;
  readonly mark: "ring" | "triangle" | "diamond";
}

export const inaccuracy: Judged = { name: "inaccuracy", sign: "?!", mark: "ring" };
export const mistake: Judged = { name: "mistake", sign: "?", mark: "triangle" };
export const blunder: Judged = { name: "blunder", sign: "??", mark: "diamond" };

const judgements: ReadonlyMap<Judgement | undefined, Judged> = new Map([
  [Judgement.INACCURACY, inaccuracy],
  [Judgement.MISTAKE, mistake],
  [Judgement.BLUNDER, blunder],
]);

/** Returns how a bad move is judged; undefined for other moves, and while it is unknown. */
export function judgedOf(move: MoveReview | undefined): Judged | undefined {
  return judgements.get(move?.judgement);
}

/** The ply of the nearest judged move before or behind a ply; undefined where there is none. */
export function nextJudged(
  moves: readonly MoveReview[],
  ply: number,
  direction: "before" | "behind",
): number | undefined {
  const judged = moves.filter((move) => judgedOf(move) !== undefined).map((move) => move.ply);
  return direction === "before"
    ? judged.findLast((other) => other < ply)
    : judged.find((other) => other > ply);
}

export const phaseNames = ["opening", "middlegame", "endgame"] as const;
export type PhaseName = (typeof phaseNames)[number];

const phases: ReadonlyMap<GamePhase, PhaseName> = new Map([
  [GamePhase.OPENING, "opening"],
  [GamePhase.MIDDLEGAME, "middlegame"],
  [GamePhase.ENDGAME, "endgame"],
]);

export function phaseOf(move: MoveReview): PhaseName | undefined {
  return phases.get(move.phase);
}

const labels: ReadonlyMap<MoveLabel, "book" | "forced" | "best" | "onlyMove"> = new Map([
  [MoveLabel.BOOK, "book"],
  [MoveLabel.FORCED, "forced"],
  [MoveLabel.BEST, "best"],
  [MoveLabel.ONLY_MOVE, "onlyMove"],
]);

/** Returns the labels of a move. Labels of a newer service that this page does not know are left out. */
export function labelsOf(move: MoveReview): readonly ("book" | "forced" | "best" | "onlyMove")[] {
  return move.labels.flatMap((label) => labels.get(label) ?? []);
}
