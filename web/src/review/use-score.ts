import { usePage } from "../page.ts";
import { scoreText } from "../parts/score-text.ts";

/** The score of the position on the board: that of the review, or of the analysis, which evaluates tried moves after the review. */
export function useScore(): { readonly text: string; readonly percent: number | undefined } {
  const { game, review, analysis } = usePage();
  const score = review.scoreOf(game.at.value);
  if (score) {
    return { text: scoreText(score), percent: score.winPercent };
  }
  return review.progress.value.kind === "done" ? analysis.score.value : { text: "", percent: undefined };
}
