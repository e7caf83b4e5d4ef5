import type { SearchResult } from "./analysis.ts";

/** Raise this if results are written differently, or if a search gets another result: older stored answers are ignored. */
export const resultVersion = 2;

/** Returns undefined for another kind of value. The check is shallow, because only Kibitz writes values of this version. */
export function resultFromJson(json: unknown): SearchResult | undefined {
  const result = lastResultFromJson(json);
  const isFinal = result?.endedBy === "depth" || result?.endedBy === "nodes";
  return isFinal && result.deterministic ? result : undefined;
}

/** Reads a result that one node publishes for others. Time may have ended its search. */
export function lastResultFromJson(json: unknown): SearchResult | undefined {
  return isSearchResult(json) && json.endedBy !== undefined && json.endedBy !== "stop" ? json : undefined;
}

function isSearchResult(json: unknown): json is SearchResult {
  const { score, best, lines, counters, warnings } = (json ?? {}) as Partial<SearchResult>;
  const hasLines = Array.isArray(lines) && lines.length > 0 && Array.isArray(warnings);
  return (
    hasLines && typeof score?.value?.kind === "string" && typeof best?.uci === "string" && counters != null
  );
}
