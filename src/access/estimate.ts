import type { Plan } from "./plans.ts";

/** The limits of a request whose price is asked. */
export interface AskedLimits {
  /** Plies. */
  readonly depth: number;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
}

/** Typical time of the search in milliseconds, and which plans allow it as written. */
export interface Estimate {
  readonly typicalMs: number;
  /** By plan id. */
  readonly allowed: Readonly<Record<string, boolean>>;
}

export function estimateOf(asked: AskedLimits, plans: readonly Plan[]): Estimate {
  return {
    typicalMs: typicalMsOf(asked),
    allowed: Object.fromEntries(plans.map((plan) => [plan.id, allows(plan, asked)])),
  };
}

/**
 * Median time of a search by depth in milliseconds: Stockfish 19 with the full network in WebAssembly,
 * one thread, 16 MiB of hash, 20 varied positions. Measured with `bench/depth-times.ts` on a 2-core
 * cloud machine in November 2026; another machine may take twice or half of it.
 */
const medianMs: readonly (readonly [depth: number, ms: number])[] = [
  [1, 1],
  [4, 2],
  [8, 5],
  [10, 10],
  [12, 23],
  [14, 68],
  [16, 207],
  [18, 713],
  [20, 2275],
];
/** Growth a ply between the last depths of the table, and so beyond it. */
const growth = 1.8;
/** Each line costs as much again, and deep lines find less in the hash: measured at depth 12 for 2 to 10 lines. */
const linesFactor = 1.8;

function typicalMsOf({ depth, multipv, movetimeMs }: AskedLimits): number {
  const [below, ms] = medianMs.findLast(([known]) => known <= depth) ?? [1, 1];
  const deepening = ms * growth ** (depth - below);
  const searching = multipv === 1 ? deepening : deepening * linesFactor * multipv;
  return Math.round(Math.min(searching, movetimeMs ?? searchMaxMs));
}

/** Every search ends by then. */
const searchMaxMs = 60_000;

function allows({ limits }: Plan, { depth, multipv, movetimeMs }: AskedLimits): boolean {
  return (
    depth <= limits.depthMax && multipv <= limits.multipvMax && (movetimeMs ?? 0) <= limits.movetimeMaxMs
  );
}
