import { useEffect, useRef } from "preact/hooks";
import { numberedMove } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import { ProblemView } from "../problem/problem-view.tsx";
import { judgedOf } from "./judged.ts";

const sides = [
  ["white", "White"],
  ["black", "Black"],
] as const;

/** Offers to practise the mistakes of one side, or asks for a better move. */
export function Practice() {
  const { practice, progress, isStale } = usePage().review;
  if (progress.value.kind !== "done" || isStale.value) {
    return null;
  }
  const isOffer = practice.side.value === undefined;
  return (
    <section class={`practice panel ${isOffer ? "row" : "stack"}`} aria-labelledby="practice-title">
      <h3 id="practice-title">Learn from your mistakes</h3>
      {isOffer ? <Offer /> : practice.mistake.value ? <Question /> : <Result />}
    </section>
  );
}

function Offer() {
  const { practice } = usePage().review;
  const offered = sides.filter(([side]) => practice.mistakesOf(side).length > 0);
  return offered.length === 0 ? (
    <p>This game has no mistakes.</p>
  ) : (
    <div class="row">
      {offered.map(([side, name]) => (
        <button key={side} type="button" onClick={() => practice.start(side)}>
          {name} ({practice.mistakesOf(side).length})
        </button>
      ))}
    </div>
  );
}

function Question() {
  const { practice, line } = usePage().review;
  const { attempt, mistake, mistakes, position, isAsking } = practice;
  const move = mistake.value;
  const played = move && line.value[move.ply];
  const judged = judgedOf(move);
  const state = attempt.value;
  const tried = position.value?.last?.san ?? "";
  const best = move?.best?.move?.san ?? "";
  const words = {
    none: "Find a better move on the board.",
    asking: `${tried} is being evaluated.`,
    right:
      tried === best
        ? `${tried} is right: it is the best move.`
        : `${tried} is right. The best move is ${best}.`,
    wrong: `${tried} is not good enough. Try another move.`,
    shown: `The best move is ${best}.`,
    waiting: "",
    failed: "",
  }[state.kind];
  const next = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    announce(words);
    if (state.kind === "right" || state.kind === "shown") {
      next.current?.focus({ preventScroll: true });
    }
  }, [state]);
  const isOver = state.kind === "right" || state.kind === "shown";
  const number = move ? mistakes.value.indexOf(move) + 1 : 0;
  return (
    <>
      <p>
        {number} of {mistakes.value.length}: in the game, {played && numberedMove(played)} was{" "}
        {judged?.name === "inaccuracy" ? "an" : "a"} {judged?.name}. {words}
      </p>
      {state.kind === "waiting" && (
        <ProblemView
          error={state.wait.error}
          wait={state.wait}
          onCancel={practice.again}
          onRetry={state.wait.retry}
        />
      )}
      {state.kind === "failed" && <ProblemView error={state.error} onRetry={practice.again} />}
      <div class="row">
        {isOver && (
          <button ref={next} type="button" class="first" onClick={practice.next}>
            Next
          </button>
        )}
        {state.kind === "wrong" && (
          <button type="button" class="first" onClick={practice.again}>
            Try again
          </button>
        )}
        {!isAsking.value && (
          <button type="button" class="first" onClick={practice.backToQuestion}>
            Back to the question
          </button>
        )}
        {!isOver && (
          <>
            <button type="button" onClick={practice.showAnswer}>
              Show the best move
            </button>
            <button type="button" onClick={practice.next}>
              Skip
            </button>
          </>
        )}
        <button type="button" onClick={practice.end}>
          End
        </button>
      </div>
    </>
  );
}

function Result() {
  const { practice } = usePage().review;
  const close = useRef<HTMLButtonElement>(null);
  const words = `You found ${practice.solved.value.size} of ${practice.mistakes.value.length} better moves.`;
  useEffect(() => {
    announce(words);
    close.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="row">
      <p>{words}</p>
      <button ref={close} type="button" onClick={practice.end}>
        End
      </button>
    </div>
  );
}
