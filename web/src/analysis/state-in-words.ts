import { type Search, StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { usePage } from "../page.ts";
import type { SearchState } from "./create-analysis.ts";

export function useStateInWords(): string {
  const { analysis, request, game } = usePage();
  const state = analysis.search.value;
  const done = analysis.latest.value?.search;
  switch (state.kind) {
    case "idle":
      return game.at.value.position.terminal ? "Game over" : "Press Analyse, or play a move";
    case "asking":
      return "Asking …";
    case "queued":
      return queueInWords(state);
    case "searching":
      return done ? `Depth ${done.depth} …` : "Searching …";
    case "done":
      return done ? endInWords(done, request.planMaximum("movetime_ms")) : "";
    case "stopped":
      return "Stopped";
    case "waiting":
      return "Waiting";
    case "refused":
      return "Not analysed";
  }
}

export function queueInWords({ place, waitMs }: SearchState & { readonly kind: "queued" }): string {
  const where = place === 1 ? "Next in the queue" : `Place ${place} in the queue`;
  return `${where}, about ${Math.ceil(waitMs / 1000)} s`;
}

function endInWords({ depth, stopReason, limits }: Search, longestMs: number | undefined): string {
  const reached = limits?.depth === undefined ? `depth ${depth}` : `depth ${depth} of ${limits.depth}`;
  switch (stopReason) {
    case StopReason.MOVETIME:
    case StopReason.SERVER_LIMIT: {
      const ms = limits?.movetimeMs ?? longestMs;
      return `Stopped at the time limit${ms === undefined ? "" : ` (${ms / 1000} s)`}, ${reached}`;
    }
    case StopReason.NODES:
      return `Stopped at the limit of nodes, ${reached}`;
    default:
      return `Depth ${depth}`;
  }
}
