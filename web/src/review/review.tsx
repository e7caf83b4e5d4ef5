import { useEffect, useRef } from "preact/hooks";
import { numberedMove } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import { GameInput } from "./game-input.tsx";
import { judgedOf } from "./judged.ts";
import { ReviewedGame } from "./reviewed-game.tsx";
import { scoreWords } from "./score-words.ts";
import "./review.css";

export function Review() {
  const { game, review, analysis, pasted } = usePage();
  const { waiting } = pasted;
  const { takeText, takeFile } = review.input;
  useEffect(() => {
    const given = waiting.value;
    if (given?.kind === "pgn") {
      waiting.value = undefined;
      void takeText(given.text);
    } else if (given?.kind === "file") {
      waiting.value = undefined;
      void takeFile(given.file);
    }
  }, [waiting.value]);
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
      <GameInput isOpen={!hasGame} />
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
