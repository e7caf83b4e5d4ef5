import type { Orientation } from "./squares.ts";

interface EvaluationBarProps {
  /** White's chances in percent. Undefined if the chances are unknown. */
  readonly percent: number | undefined;
  readonly score: string;
  readonly orientation: Orientation;
}

export function EvaluationBar({ percent, score, orientation }: EvaluationBarProps) {
  // Move the bar with a transform, because a change of its size causes a new layout ten times a second.
  const black = 100 - (percent ?? 50);
  const leader = (percent ?? 50) < 50 ? "black" : "white";
  return (
    // biome-ignore lint/a11y/useSemanticElements: Not all browsers can show a vertical <meter>.
    <div
      class="evaluation-bar"
      role="meter"
      aria-label="Evaluation"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent ?? 50}
      aria-valuetext={score || "not evaluated yet"}
    >
      <div
        class="evaluation-bar-share"
        style={{ transform: `translateY(${orientation === "white" ? black : -black}%)` }}
      />
      <span
        class={`evaluation-bar-number evaluation-bar-${leader}`}
        style={{ [leader === orientation ? "insetBlockEnd" : "insetBlockStart"]: 0 }}
        aria-hidden="true"
      >
        {shortScore(score)}
      </span>
    </div>
  );
}

/** Shortens a score to the width of the bar: `+4.32` to `4.3`, `−12.5` to `13`. The number stands at the end of the side that is better. */
function shortScore(score: string): string {
  const number = score.replace(/[≥≤+−\s]/g, "");
  return /^\d+\.\d+$/.test(number) ? Number(number).toFixed(Number(number) < 9.95 ? 1 : 0) : number;
}
