import { useEffect } from "preact/hooks";
import { type GameNode, mainlineOf } from "../game/game.ts";
import { moveNumber } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import { ProblemView } from "../problem/problem-view.tsx";
import { firstMoves } from "../problem/problem-words.ts";

export function ReviewProgress() {
  const { game, review } = usePage();
  const { start, startSuggested, stop } = review;
  const again = () => start(game.reviewed.peek());
  const state = review.progress.value;
  const beginning = review.beginning.value;
  const [done, all] = [review.moves.value.length, review.plies.value];
  useAnnouncements();
  switch (state.kind) {
    case "none":
      return (
        <div class="row">
          <button type="button" class="first" onClick={again}>
            Review this game
          </button>
        </div>
      );
    case "running":
      return (
        <div class="row">
          <progress max={all} value={done} aria-label="Reviewed positions" />
          <span class="figures">
            {state.queued
              ? `Place ${state.queued.place} in the queue, about ${Math.ceil(state.queued.expectedWaitMs / 1000)} s`
              : `${done} of ${all} positions`}
          </span>
          <button type="button" onClick={stop}>
            Stop
          </button>
        </div>
      );
    case "stopped":
      return (
        <div class="row">
          <span class="figures">
            Stopped after {done} of {all} positions
          </span>
          <button type="button" onClick={again}>
            Resume
          </button>
        </div>
      );
    case "waiting":
      return (
        <ProblemView error={state.wait.error} wait={state.wait} onCancel={stop} onRetry={again}>
          {beginning && (
            <button type="button" class="first" onClick={() => startSuggested({ pgn: beginning.pgn })}>
              {firstMoves(beginning.plies)}
            </button>
          )}
        </ProblemView>
      );
    case "failed":
      return <ProblemView error={state.error} onRetry={again} onSend={startSuggested} />;
    case "done": {
      if (review.isStale.value) {
        return (
          <div class="notice row">
            <p>The game has changed since its review.</p>
            <button type="button" class="first" onClick={() => start()}>
              Review again
            </button>
          </div>
        );
      }
      const line = mainlineOf(game.game.value);
      const [first, last, end] = [line[1], line[all], line.at(-1)].map((node) => node && numberOf(node));
      return line[all] && line[all] !== line.at(-1) ? (
        <p>
          Moves {first}–{last} of {end} are reviewed.
        </p>
      ) : null;
    }
    default:
      return null;
  }
}

function numberOf({ position }: Pick<GameNode, "position">): string {
  return moveNumber(position).replace(/\D/, "");
}

/** Announces the progress at each quarter, and the end of the review. */
function useAnnouncements(): void {
  const { progress, moves, plies } = usePage().review;
  const state = progress.value;
  const [done, all] = [moves.value.length, plies.value];
  const quarter = all === 0 ? 0 : Math.floor((done / all) * 4);
  useEffect(() => {
    if (state.kind === "running" && quarter < 4) {
      announce(quarter === 0 ? `The review of ${all} positions has begun.` : `${done} of ${all} positions`);
    }
  }, [state.kind, quarter]);
  useEffect(() => {
    if (state.kind === "stopped") {
      announce(`Stopped after ${done} of ${all} positions`);
    } else if (state.kind === "done") {
      announce(state.review.summary);
    }
  }, [state.kind]);
}
