import type { SearchResult } from "./analysis.ts";

/** Raised when results are written differently, or when the same search gets another result: then no older stored answer counts. */
export const resultVersion = 2;

/**
 * Reads a result that was written as JSON, of a search that depth or nodes have ended. Only Kibitz writes values of this version, so
 * the check is no deeper than it takes to recognize another kind of value.
 *
 * @returns undefined for another kind of value: then there is no stored answer.
 */
export function resultFromJson(json: unknown): SearchResult | undefined {
  const result = lastResultFromJson(json);
  const isFinal = result?.endedBy === "depth" || result?.endedBy === "nodes";
  return isFinal && result.deterministic ? result : undefined;
}

/** Reads a result that one node publishes for others, also of a search that time has ended. */
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
