import { effect } from "@preact/signals";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { colourName, moveInWords } from "../board/words.ts";
import type { GameState } from "../game/create-game.ts";
import { announce } from "../parts/live-region.tsx";
import type { AnalysisState } from "./create-analysis.ts";
import { outcomeInWords } from "./outcome.ts";
import { queueInWords } from "./state-in-words.ts";

/** The minimum time between two announced scores during a search, in milliseconds. */
const scoreEveryMs = 4000;

/** Returns a function that stops the announcements. */
export function announceMoves({ at }: GameState): () => void {
  let announced = at.peek().position.fen;
  return effect(() => {
    const { move, position } = at.value;
    if (position.fen !== announced) {
      announced = position.fen;
      const mover = position.turn === "white" ? "black" : "white";
      const what = move ? `${moveInWords(move, mover)}.` : `${colourName(position.turn)} to move.`;
      announce(`${what} ${outcomeInWords(position) ?? ""}`.trim());
    }
  });
}

/** Announces scores and queue positions. Returns a function that stops the announcements. */
export function announceScores({ search, latest }: AnalysisState): () => void {
  let announcedAt = 0;
  let before = search.peek().kind;
  let announced: EvaluateResponse | undefined;
  return effect(() => {
    const state = search.value;
    const evaluation = latest.value;
    if (state.kind !== before) {
      before = state.kind;
      if (state.kind === "stopped") {
        announce("Stopped");
      } else if (state.kind === "queued") {
        announce(queueInWords(state));
      }
    }
    const now = performance.now();
    const isNew = state.kind === "done" && evaluation !== announced;
    announced = evaluation && (isNew ? evaluation : announced);
    if (evaluation && (isNew || (state.kind === "searching" && now - announcedAt > scoreEveryMs))) {
      announcedAt = now;
      announce(`Depth ${evaluation.search?.depth ?? 0}. ${evaluation.summary}`);
    }
  });
}
