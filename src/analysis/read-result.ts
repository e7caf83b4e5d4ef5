import type { SearchResult } from "./analysis.ts";

/** Increase this number if the format or the content of results changes. Older stored results are then ignored. */
export const resultVersion = 3;

/** Returns undefined if the value is not a final result. The check is shallow, because only Kibitz writes stored results. */
export function resultFromJson(json: unknown): SearchResult | undefined {
  const result = lastResultFromJson(json);
  const isFinal = result?.endedBy === "depth" || result?.endedBy === "nodes";
  return isFinal && result.deterministic ? result : undefined;
}

/** Accepts a result of a search that a time limit ended. {@link resultFromJson} rejects such a result. */
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
