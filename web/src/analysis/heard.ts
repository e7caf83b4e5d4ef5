import { effect } from "@preact/signals";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { moveInWords } from "../board/words.ts";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { evaluations, search } from "./live.ts";
import { outcomeInWords } from "./outcome.ts";
import { play, ply, position } from "./state.ts";

const words = texts.analysis;

/** How long at least between two scores that are told while a search goes on, in milliseconds. */
const scoreEveryMs = 4000;

/** Tells those who hear the page each move, and the score now and again and at the end. Returns what ends it. */
export function tellChanges(): () => void {
  const ends = [effect(tellMoves()), effect(tellScores())];
  return () => {
    for (const end of ends) {
      end();
    }
  };
}

function tellMoves(): () => void {
  let told = position.peek().fen;
  return () => {
    const { fen } = position.value;
    if (fen === told) {
      return;
    }
    told = fen;
    const last = play.value.moves[ply.value - 1];
    const mover = position.value.turn === "white" ? "black" : "white";
    const parts = [
      last ? `${moveInWords(last, mover)}.` : words.toMove(texts.board.colours[position.value.turn]),
      outcomeInWords(position.value) ?? "",
    ];
    announce(parts.filter((part) => part !== "").join(" "));
  };
}

function tellScores(): () => void {
  let toldAt = 0;
  let before = search.peek().kind;
  /** The last one that was told at its end. */
  let toldAnswer: EvaluateResponse | undefined;
  return () => {
    const state = search.value;
    const { kind } = state;
    const latest = evaluations.value.at(-1);
    const hasChanged = kind !== before;
    before = kind;
    if (state.kind === "stopped") {
      if (hasChanged) {
        announce(words.states.stopped);
      }
      return;
    }
    if (state.kind === "queued" && hasChanged) {
      announce(words.states.queued(state.place, Math.ceil(state.waitMs / 1000)));
    }
    if (!latest) {
      toldAnswer = undefined;
      return;
    }
    const now = performance.now();
    const isNewAnswer = kind === "done" && latest !== toldAnswer;
    if (isNewAnswer || (kind === "searching" && now - toldAt > scoreEveryMs)) {
      toldAt = now;
      toldAnswer = isNewAnswer ? latest : toldAnswer;
      announce(words.heard(latest.search?.depth ?? 0, latest.summary));
    }
  };
}
