import type { HashStep } from "./engine.ts";

/**
 * Clearing the table is most of what a clean engine costs a shallow search, which never fills it. Measured with
 * native 15.1 and WebAssembly 19 (decision 22): up to depth 8 a search visits the same nodes with 1 MiB as with 16; up to
 * 12 the median fills less than a twentieth of 4 MiB, and visits 2 % more or fewer nodes. At 14 it is 122 per mille.
 */
const shallow: readonly HashStep[] = [
  { depthMax: 8, hashMb: 1 },
  { depthMax: 12, hashMb: 4 },
];

/** Above, all searches have the whole table: a new one of 64 MiB takes 10 ms, of 1024 more than 150, cleared ones 2 and 20. */
const largestWithSteps = 64;

/**
 * The steps of a build, shallowest first; there is always a last one.
 *
 * @param hashMb the largest table, in MiB
 * @param minimumMb the smallest that the engine can be given
 */
export function hashStepsUpTo(hashMb: number, minimumMb = 1): readonly HashStep[] {
  const last = { depthMax: Number.POSITIVE_INFINITY, hashMb };
  if (hashMb > largestWithSteps) {
    return [last];
  }
  const steps = shallow.map((step) => ({
    ...step,
    hashMb: Math.min(hashMb, Math.max(minimumMb, step.hashMb)),
  }));
  // Of equal ones the deepest says it all.
  return [...steps, last].filter((step, at, all) => step.hashMb !== (all[at + 1] ?? { hashMb: 0 }).hashMb);
}
