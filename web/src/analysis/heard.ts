import { effect } from "@preact/signals";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { moveInWords } from "../board/words.ts";
import type { GameState } from "../game/create-game.ts";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import type { AnalysisState } from "./create-analysis.ts";
import { outcomeInWords } from "./outcome.ts";

const words = texts.analysis;

/** How long at least between two scores that are announced while a search goes on, in milliseconds. */
const scoreEveryMs = 4000;

/** Announces each move, and the score now and again and at the end. Returns a function that ends it. */
export function announceChanges(game: GameState, analysis: AnalysisState): () => void {
  const ends = [effect(announceMoves(game)), effect(announceScores(analysis))];
  return () => {
    for (const end of ends) {
      end();
    }
  };
}

function announceMoves({ at }: GameState): () => void {
  let announced = at.peek().position.fen;
  return () => {
    const { move, position } = at.value;
    if (position.fen === announced) {
      return;
    }
    announced = position.fen;
    const mover = position.turn === "white" ? "black" : "white";
    const parts = [
      move ? `${moveInWords(move, mover)}.` : words.toMove(texts.board.colours[position.turn]),
      outcomeInWords(position) ?? "",
    ];
    announce(parts.filter((part) => part !== "").join(" "));
  };
}

function announceScores({ search, latest }: AnalysisState): () => void {
  let announcedAt = 0;
  let before = search.peek().kind;
  /** The last answer whose end was announced. */
  let announced: EvaluateResponse | undefined;
  return () => {
    const state = search.value;
    const { kind } = state;
    const evaluation = latest.value;
    const hasChanged = kind !== before;
    before = kind;
    if (hasChanged && kind === "stopped") {
      announce(words.states.stopped);
    }
    if (hasChanged && state.kind === "queued") {
      announce(words.states.queued(state.place, Math.ceil(state.waitMs / 1000)));
    }
    if (!evaluation) {
      announced = undefined;
      return;
    }
    const now = performance.now();
    const isNewAnswer = kind === "done" && evaluation !== announced;
    if (isNewAnswer || (kind === "searching" && now - announcedAt > scoreEveryMs)) {
      announcedAt = now;
      announced = isNewAnswer ? evaluation : announced;
      announce(words.heard(evaluation.search?.depth ?? 0, evaluation.summary));
    }
  };
}
