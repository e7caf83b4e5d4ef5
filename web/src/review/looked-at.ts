import { computed, signal } from "@preact/signals";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { judgedOf, nextJudged } from "./judged.ts";
import { moveNumber } from "./move-number.ts";
import { type PlayedGame, withExplained } from "./played-game.ts";
import { explained, game, progress } from "./run-review.ts";
import { scoreWords } from "./score-words.ts";
import { type Place, placeByKey } from "./shown-place.ts";

/** The game as it is shown: as the service has read it, as far as it has come; undefined where there is none. */
export const shownGame = computed<PlayedGame | undefined>(
  () =>
    game.value &&
    withExplained(
      game.value,
      progress.value.kind === "done" ? progress.value.review : undefined,
      explained.value,
    ),
);

/** True if the board shows the game. A text that the service will most likely refuse is shown only after it was accepted. */
export const isBoardShown = computed(
  () => explained.value.length > 0 || (game.value?.isWhole === true && progress.value.kind !== "failed"),
);

/** The place in the game that the board shows. */
export const place = signal<Place>({ ply: 0, step: 0 });

/** From whose side the board is seen. */
export const orientation = signal<"white" | "black">("white");

/** Goes to a place, and says what is there, unless whoever led there says so itself. */
export function goTo(next: Place, { isTold = false } = {}): void {
  place.value = next;
  if (!isTold) {
    announce(wordsAt(next));
  }
}

/** A key that leads somewhere else in the game; whether it was one. */
export function goByKey({ key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">): boolean {
  const plies = shownGame.peek()?.moves.length ?? 0;
  const { ply } = place.peek();
  if (shiftKey) {
    return (key === "ArrowLeft" && goToJudged("before")) || (key === "ArrowRight" && goToJudged("behind"));
  }
  const next = placeByKey(key, place.peek(), plies, explained.peek()[ply - 1]?.best?.moves.length ?? 0);
  if (next !== undefined) {
    goTo(next);
  }
  return next !== undefined;
}

/** Goes to the nearest judged move; whether there is one. */
export function goToJudged(direction: "before" | "behind"): boolean {
  const ply = nextJudged(explained.peek(), place.peek().ply, direction);
  if (ply !== undefined) {
    goTo({ ply, step: 0 });
  }
  return ply !== undefined;
}

/** Returns the words that a screen reader speaks for a place: the move, its judgement, the evaluation. */
function wordsAt({ ply, step }: Place): string {
  const played = shownGame.peek();
  if (played === undefined || ply === 0) {
    return texts.review.startPosition;
  }
  const move = explained.peek()[ply - 1];
  if (step > 0) {
    return texts.review.inLine(move?.best?.san[step - 1] ?? "");
  }
  const judged = judgedOf(move);
  return texts.review.told(
    `${moveNumber(played.startFen, ply)} ${played.moves[ply - 1]?.san ?? ""}`,
    judged && texts.review.judgements[judged.name].one,
    scoreWords(move?.evaluation),
  );
}
