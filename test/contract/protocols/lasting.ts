import type { Outcome, Plain } from "./protocol.ts";

/** Returns the part of an outcome in which two protocols must agree: everything that is the same in each call. */
export function lasting(outcome: Outcome): Plain {
  if (outcome.kind === "refusal") {
    const { code, message, violations } = outcome.refusal;
    // A call that is not answered yet is named as it was asked for: by its path, or as an RPC.
    return code === "unimplemented" ? { code } : { code, message, violations };
  }
  const { review } = outcome.answer;
  const answer = (review ?? outcome.answer) as Plain;
  if (!("search" in answer)) {
    return answer;
  }
  const { id: _, search, ...rest } = answer;
  const { time_ms: _ms, nps: _nps, queue_ms: _queue, ...counters } = search as Plain;
  // An answer that is not deterministic need not be the same twice: only its fields must be there.
  return counters.deterministic === true
    ? { ...rest, search: counters }
    : { fields: Object.keys(answer).toSorted(), search: Object.keys(counters).toSorted() };
}
