import { useEffect, useRef } from "preact/hooks";
import { InputPanel } from "../input/input-panel.tsx";
import { numberedMove } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import { judgedOf } from "./judged.ts";
import { ReviewSettings } from "./review-settings.tsx";
import { ReviewedGame } from "./reviewed-game.tsx";
import { scoreWords } from "./score-words.ts";
import "./review.css";

export function Review() {
  const { game, review, analysis } = usePage();
  const isDone = review.progress.value.kind === "done";
  useEffect(() => (isDone ? analysis.follow() : undefined), [isDone]);
  useStepAnnouncements();
  const hasGame = game.game.value.start.children.length > 0;
  return (
    <section class="review stack" aria-labelledby="review-title">
      <h2 id="review-title" class="heard-only">
        Game review
      </h2>
      {hasGame && <ReviewedGame />}
      <InputPanel
        title={hasGame ? "Another game" : "A game to review"}
        action="Review the game"
        isAlone={!hasGame}
      >
        {!hasGame && <ReviewSettings />}
      </InputPanel>
    </section>
  );
}

/** Announces the move on the board. Does nothing if the slider has the focus, because the slider announces its value. */
function useStepAnnouncements(): void {
  const { game, review } = usePage();
  const node = game.at.value;
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
    } else if (!document.activeElement?.matches("[type=range]")) {
      const move = review.reviewOf(node);
      const parts = node.move
        ? [numberedMove(node), judgedOf(move)?.name, scoreWords(move?.evaluation)]
        : ["Start of the game"];
      announce(`${parts.filter((part) => part !== undefined).join(", ")}.`);
    }
  }, [node.id]);
}
