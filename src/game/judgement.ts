import type { Color } from "../chess/position.ts";
import { type ScoreValue, winningChances } from "../chess/score.ts";

export type Judgement = "inaccuracy" | "mistake" | "blunder";

/** The judgement of a bad move by the rules of Lichess: `Advice.scala` of lila. */
interface Advice {
  readonly judgement: Judgement;
  /** The beginning of the comment: `Inaccuracy`, or what happened to a forced mate. */
  readonly comment: string;
}

const names: Readonly<Record<Judgement, string>> = {
  inaccuracy: "Inaccuracy",
  mistake: "Mistake",
  blunder: "Blunder",
};

/** Judges a move by scores in White's view; undefined if it is not bad. Do not call this for a move that mates. */
export function adviseOn(before: ScoreValue, after: ScoreValue, mover: Color): Advice | undefined {
  const previous = viewOf(before, mover);
  const next = viewOf(after, mover);
  if (previous.kind === "cp" && next.kind === "cp") {
    const judgement = judgementOfLoss(winningChances(previous.cp) - winningChances(next.cp));
    return judgement && { judgement, comment: names[judgement] };
  }
  if (previous.kind === "cp" && next.kind === "mate" && next.mate < 0) {
    return { judgement: judgementOfMate(-previous.cp), comment: "Checkmate is now unavoidable" };
  }
  if (previous.kind === "mate" && previous.mate > 0 && (next.kind === "cp" || next.mate < 0)) {
    const judgement = judgementOfMate(next.kind === "cp" ? next.cp : 0);
    return { judgement, comment: "Lost forced checkmate sequence" };
  }
  return undefined;
}

/** Judges a move by its loss of winning chances, which are from −1 to 1. */
function judgementOfLoss(loss: number): Judgement | undefined {
  return loss >= 0.3 ? "blunder" : loss >= 0.2 ? "mistake" : loss >= 0.1 ? "inaccuracy" : undefined;
}

/** @param cp the lead of the side that lost or got the mate, in centipawns, by the score without the mate */
function judgementOfMate(cp: number): Judgement {
  return cp > 999 ? "inaccuracy" : cp > 700 ? "mistake" : "blunder";
}

function viewOf(value: ScoreValue, side: Color): ScoreValue {
  if (side === "white") {
    return value;
  }
  return value.kind === "cp" ? { kind: "cp", cp: -value.cp } : { kind: "mate", mate: -value.mate };
}
