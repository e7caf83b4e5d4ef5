import { usePage } from "../page.ts";
import { scoreText } from "../parts/score-text.ts";

/** Returns the score in the review. If the move was not reviewed, returns the score of the analysis. */
export function useScore(): { readonly text: string; readonly percent: number | undefined } {
  const { game, review, analysis } = usePage();
  const score = review.scoreOf(game.at.value);
  if (score) {
    return { text: scoreText(score), percent: score.winPercent };
  }
  return review.progress.value.kind === "done" ? analysis.score.value : { text: "", percent: undefined };
}
