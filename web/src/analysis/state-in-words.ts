import type { Search } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { usePage } from "../page.ts";
import { texts } from "../texts.ts";

const words = texts.analysis.states;

/** How the search is getting on, in words. */
export function useStateInWords(): string {
  const { analysis, request, game } = usePage();
  const state = analysis.search.value;
  const done = analysis.latest.value?.search;
  switch (state.kind) {
    case "searching":
      return words.searching(done?.depth ?? 0);
    case "done":
      return done ? endInWords(done, request.planMaximum("movetime_ms")) : "";
    case "queued":
      return words.queued(state.place, Math.ceil(state.waitMs / 1000));
    case "idle":
      return game.at.value.position.terminal ? words.over : words.idle;
    default:
      return words[state.kind];
  }
}

function endInWords({ depth, stopReason, limits }: Search, longestMs: number | undefined): string {
  switch (stopReason) {
    case StopReason.MOVETIME:
    case StopReason.SERVER_LIMIT:
      return words.outOfTime(depth, limits?.depth, limits?.movetimeMs ?? longestMs);
    case StopReason.NODES:
      return words.outOfNodes(depth, limits?.depth);
    default:
      return words.done(depth);
  }
}
