import { computed } from "@preact/signals";
import { scoreText } from "../parts/score-text.ts";
import { evaluations } from "./live.ts";
import { position } from "./state.ts";

/** The score of the position on the board. If there is none, `text` is empty and `percent` undefined. */
export const scoreNow = computed<{ readonly text: string; readonly percent: number | undefined }>(() => {
  const score = evaluations.value.at(-1)?.score;
  const { terminal } = position.value;
  if (terminal) {
    // The rules say it, whether or not the service was asked.
    return {
      text: terminal.result.replaceAll("1/2", "½").replace("-", "–"),
      percent: percents[terminal.result],
    };
  }
  return score ? { text: scoreText(score), percent: score.winPercent } : { text: "", percent: undefined };
});

const percents = { "1-0": 100, "0-1": 0, "1/2-1/2": 50 } as const;
