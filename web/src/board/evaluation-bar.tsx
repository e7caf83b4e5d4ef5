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
    </div>
  );
}
