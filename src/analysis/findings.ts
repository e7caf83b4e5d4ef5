import type { MoveDescription } from "../chess/notation.ts";
import type { Score } from "../chess/score.ts";
import type { SearchCounters, SearchDone } from "../engine/engine.ts";
import type { AnalysisLine, Warning } from "./analysis.ts";

/**
 * What a search has found: the same for every caller of an equal search, so it is shared and kept. Plain
 * data, so that a store may write it as JSON. All scores are from White's point of view.
 */
export interface Findings {
  readonly score: Score;
  readonly best: MoveDescription;
  readonly ponder: MoveDescription | undefined;
  /** Best first, at least one. */
  readonly lines: readonly AnalysisLine[];
  readonly depth: number;
  readonly seldepth: number;
  /** Of the search that was run. */
  readonly counters: SearchCounters;
  /** Undefined while the search goes on. */
  readonly endedBy: SearchDone["endedBy"] | undefined;
  /** Whether depth alone defines them: any search with the same key finds the same. */
  readonly deterministic: boolean;
  /** What to know about the search; what is to be known about a request stands with that. */
  readonly warnings: readonly Warning[];
}
