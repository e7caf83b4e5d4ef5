import { useEffect } from "preact/hooks";
import type { GameReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { announce } from "../parts/live-region.tsx";
import { ProblemView } from "../problem/problem-view.tsx";
import { texts } from "../texts.ts";
import { startSuggested } from "./game-text.ts";
import type { PlayedGame } from "./played-game.ts";
import { asked, explained, progress, review, stop } from "./run-review.ts";

const words = texts.review;

/** How far the review is, and what can be done about it. */
export function ReviewProgress({ game }: { readonly game: PlayedGame }) {
  const state = progress.value;
  const [done, all] = [explained.value.length, game.moves.length];
  useTelling(all);
  const again = () => {
    if (asked.value) {
      void review(asked.value);
    }
  };
  switch (state.kind) {
    case "waiting":
      return (
        <ProblemView
          error={state.wait.error}
          wait={state.wait}
          onRetry={again}
          onCancel={stop}
          onSend={startSuggested}
        />
      );
    case "running":
      return (
        <div class="review-progress panel row">
          <progress max={all} value={done} aria-label={words.progress} />
          <span class="figures">
            {state.queued
              ? words.queued(state.queued.place, Math.ceil(state.queued.expectedWaitMs / 1000))
              : words.running(done, all)}
          </span>
          <button type="button" onClick={stop}>
            {words.stop}
          </button>
        </div>
      );
    case "stopped":
      return (
        <div class="review-progress panel row">
          <span class="figures">{words.stopped(done, all)}</span>
          <button type="button" onClick={again}>
            {words.again}
          </button>
        </div>
      );
    case "failed":
      return <ProblemView error={state.error} onRetry={again} onSend={startSuggested} />;
    case "done":
      return <Found review={state.review} />;
    case "none":
      return null;
  }
}

/** With which engine, and how much of it was known before. */
function Found({ review: { engine, search } }: { readonly review: GameReview }) {
  return engine && search ? (
    <div class="review-progress row">
      <span class="quiet-text figures">
        {words.found(engine.name, search.limits?.depth, search.positions, search.searched)}
      </span>
    </div>
  ) : null;
}

/** Says how far it is, four times on the way, and how it ends. */
function useTelling(all: number): void {
  const state = progress.value;
  const quarter = all === 0 ? 0 : Math.floor((explained.value.length / all) * 4);
  useEffect(() => {
    if (state.kind === "running" && quarter < 4) {
      announce(quarter === 0 ? words.begun(all) : words.running(explained.value.length, all));
    }
  }, [state.kind, quarter]);
  useEffect(() => {
    switch (state.kind) {
      case "stopped":
        announce(words.stopped(explained.value.length, all));
        break;
      case "done":
        announce(state.review.summary);
    }
  }, [state.kind]);
}
