import type { Color } from "../chess/position.ts";
import { type ScoreValue, winningChances } from "../chess/score.ts";

export type Judgement = "inaccuracy" | "mistake" | "blunder";

/** The judgement of a bad move, by the rules in `Advice.scala` of Lichess's repository lila. */
interface Advice {
  readonly judgement: Judgement;
  /** The beginning of the comment: `Inaccuracy`, for example, or a sentence about a forced mate. */
  readonly comment: string;
}

const names: Readonly<Record<Judgement, string>> = {
  inaccuracy: "Inaccuracy",
  mistake: "Mistake",
  blunder: "Blunder",
};

/** Judges a move by White's scores before and after the move. Do not call this function for a move that gives checkmate. */
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

/** Winning chances are from −1 to 1, so a loss is at most 2. */
function judgementOfLoss(loss: number): Judgement | undefined {
  return loss >= 0.3 ? "blunder" : loss >= 0.2 ? "mistake" : loss >= 0.1 ? "inaccuracy" : undefined;
}

/** `cp` is the score of the position without the mate, in centipawns from the view of the side that could give mate. */
function judgementOfMate(cp: number): Judgement {
  return cp > 999 ? "inaccuracy" : cp > 700 ? "mistake" : "blunder";
}

function viewOf(value: ScoreValue, side: Color): ScoreValue {
  if (side === "white") {
    return value;
  }
  return value.kind === "cp" ? { kind: "cp", cp: -value.cp } : { kind: "mate", mate: -value.mate };
}
