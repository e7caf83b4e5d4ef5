import type { EngineBuild, SearchDone } from "../engine/engine.ts";
import { createPace, type Pace } from "./pace.ts";

/** What decides how long a search takes. */
export interface SearchLimits {
  /** Plies. */
  readonly depth: number;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
}

/** How long searches take on this machine, learnt from those that were run. */
export interface ExpectedTimes {
  /** Milliseconds that a search is expected to occupy an engine, at most its movetime. */
  expect(build: EngineBuild, limits: SearchLimits): number;
  /**
   * Takes note of a search: the engine's own milliseconds, whether it ended by its depth, and whose it was. However
   * much one caller asks, they are one of those that are listened to.
   */
  learn(
    build: EngineBuild,
    limits: SearchLimits,
    actualMs: number,
    endedBy: SearchDone["endedBy"],
    caller: string,
  ): void;
}

/** Whose a flow is: that of a batch is called by its caller, `#`, and a name of its own. */
export function callerOf(flow: string): string {
  const end = flow.indexOf("#");
  return end < 0 ? flow : flow.slice(0, end);
}

/**
 * Starts from the table below, and corrects it for each build by what searches took: native engines are faster,
 * small machines slower, and a mean is more than a median. How that is done is `pace.ts`'s.
 */
export function createExpectedTimes(): ExpectedTimes {
  const paces = new WeakMap<EngineBuild, Pace>();
  return {
    expect(build, limits) {
      const searchMs = tableMs(limits) * (paces.get(build)?.value ?? 1);
      return Math.min(newGameMs + searchMs, limits.movetimeMs ?? searchMaxMs);
    },
    learn(build, limits, actualMs, endedBy, caller) {
      const typicalMs = tableMs(limits);
      const pace = paces.get(build) ?? createPace();
      // A search that time cut short would have taken longer; how much longer, nobody knows.
      if (endedBy === "depth" || actualMs > typicalMs * pace.value) {
        pace.learn(caller, typicalMs, actualMs);
        paces.set(build, pace);
      }
    },
  };
}

/**
 * What is left of a search, in milliseconds. One that has overrun its estimate is not about to end: the times of
 * searches have a long tail, so it is granted some of what it has taken already.
 */
export function restMs(expectedMs: number, elapsedMs: number): number {
  return Math.max(expectedMs - elapsedMs, elapsedMs / 4);
}

/** An engine clears its hash after every search: 1 ms native, 2 ms in WebAssembly. */
const newGameMs = 2;

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
/** Growth a ply at the end of the table, and so beyond it. */
const growth = 1.8;
/** Each line costs as much again, and deep lines find less in the hash: measured at depth 12 for 2 to 10 lines. */
const linesFactor = 1.8;
/** Every search ends by then. */
const searchMaxMs = 60_000;

function tableMs({ depth, multipv }: SearchLimits): number {
  const deepening = deepeningMs(depth);
  return multipv === 1 ? deepening : deepening * linesFactor * multipv;
}

/** Between the depths of the table by equal factors, as searches grow. */
function deepeningMs(depth: number): number {
  const at = medianMs.findLastIndex(([known]) => known <= depth);
  const [below, ms] = medianMs[at] ?? [1, 1];
  const above = medianMs[at + 1];
  const factor = above ? (above[1] / ms) ** (1 / (above[0] - below)) : growth;
  return ms * factor ** (depth - below);
}
