import type { Score } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { texts } from "../texts.ts";

/** A score as it is said: `1.25 for White`, `mate in 2 for Black`, `equal`. */
export function scoreWords(score: Score | undefined): string | undefined {
  if (score?.value.case === undefined) {
    return undefined;
  }
  const { case: kind, value } = score.value;
  if (value === 0) {
    return kind === "mate" ? texts.review.checkmate : texts.review.equal;
  }
  const side = value > 0 ? texts.review.white : texts.review.black;
  const size = Math.abs(value);
  return kind === "mate"
    ? texts.review.mateFor(size, side)
    : texts.review.betterFor((size / 100).toFixed(2), side);
}
