import type { Score } from "../../../gen/chess/analysis/v1/analysis_pb.ts";

/** Formats a score in words: `1.25 for White`, `mate in 2 for Black`, `equal`. */
export function scoreWords(score: Score | undefined): string | undefined {
  if (score?.value.case === undefined) {
    return undefined;
  }
  const { case: kind, value } = score.value;
  if (value === 0) {
    return kind === "mate" ? "checkmate" : "equal";
  }
  const side = value > 0 ? "White" : "Black";
  const size = Math.abs(value);
  return kind === "mate" ? `mate in ${size} for ${side}` : `${(size / 100).toFixed(2)} for ${side}`;
}
