import type { Findings } from "./analysis.ts";

/** Raised when findings are written differently, or when the same search gets other findings: no older stored answer counts then. */
export const findingsVersion = 2;

/**
 * Reads findings that were written as JSON, of a search that depth or nodes have ended. Only Kibitz writes values of this version, so
 * the check is no deeper than it takes to recognize another kind of value.
 *
 * @returns undefined for another kind of value: then there is no stored answer.
 */
export function findingsFromJson(json: unknown): Findings | undefined {
  const findings = lastFindingsFromJson(json);
  const isFinal = findings?.endedBy === "depth" || findings?.endedBy === "nodes";
  return isFinal && findings.deterministic ? findings : undefined;
}

/** Reads findings that one node publishes for others, also of a search that time has ended. */
export function lastFindingsFromJson(json: unknown): Findings | undefined {
  return isFindings(json) && json.endedBy !== undefined && json.endedBy !== "stop" ? json : undefined;
}

function isFindings(json: unknown): json is Findings {
  const { score, best, lines, counters, warnings } = (json ?? {}) as Partial<Findings>;
  const hasLines = Array.isArray(lines) && lines.length > 0 && Array.isArray(warnings);
  return (
    hasLines && typeof score?.value?.kind === "string" && typeof best?.uci === "string" && counters != null
  );
}
