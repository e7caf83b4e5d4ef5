import type { Outcome, Plain } from "./protocol.ts";

/** Removes the fields that differ in every call, such as ids and times. */
export function lasting(outcome: Outcome): Plain {
  if (outcome.kind === "refusal") {
    const { code, message, violations } = outcome.refusal;
    // The message of an unimplemented call names the path or the RPC, which depend on the protocol.
    return code === "unimplemented" ? { code } : { code, message, violations };
  }
  const { review } = outcome.answer;
  const answer = (review ?? outcome.answer) as Plain;
  if (!("search" in answer)) {
    return answer;
  }
  const { id: _, search, ...rest } = answer;
  const { time_ms: _ms, nps: _nps, queue_ms: _queue, ...counters } = search as Plain;
  // The values of a nondeterministic answer differ. Only the names of the fields must be equal.
  return counters.deterministic === true
    ? { ...rest, search: counters }
    : { fields: Object.keys(answer).toSorted(), search: Object.keys(counters).toSorted() };
}
