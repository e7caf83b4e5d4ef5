import type { Arbitrary, RunDetails } from "fast-check";
import fc from "fast-check";
import { expect } from "vitest";
import { budgetOf, type TargetName } from "./budget.ts";
import { startProgress } from "./progress.ts";

export interface Target<T> {
  readonly name: TargetName;
  readonly inputs: Arbitrary<T>;
  /** Throws if the behavior is wrong. May return a promise. */
  readonly check: (input: T) => unknown;
  /** Fixed inputs that found a bug earlier, or that test rare cases. These inputs run first. */
  readonly corpus: readonly T[];
  /** Returns additional numbers for the progress report. */
  readonly figures?: () => string;
  /** Stops after this number of inputs. By default, the target stops after its time. */
  readonly count?: number | undefined;
  /** Returns how many inputs a group contains. Default: 1. */
  readonly sizeOf?: (input: T) => number;
}

/** The number of inputs of a round. Each round has its own seed. */
const roundRuns = 1000;

/** Runs a target until its time ends. fast-check generates random inputs, and shrinks an input that fails. */
export async function fuzz<T>(target: Target<T>): Promise<void> {
  const { name, inputs, check, corpus, count, figures = () => "", sizeOf = () => 1 } = target;
  const { seed, milliseconds } = budgetOf(name);
  const progress = startProgress(name, seed);
  let done = 0;

  for (const input of corpus) {
    try {
      await check(input);
    } catch (error) {
      throw new Error(`in the corpus of ${name}: ${fc.stringify(input)}`, { cause: error });
    }
    done += sizeOf(input);
  }
  const isOver = () => (count === undefined ? progress.elapsedMs() >= milliseconds : done >= count);
  const property = fc.asyncProperty(inputs, async (input) => {
    await check(input);
    done += sizeOf(input);
  });
  for (let round = 0; round === 0 || !isOver(); round++) {
    const details = await fc.check(property, {
      seed: seed + round,
      numRuns: roundRuns,
      // The first round always runs to its end, because a failure is repeated as a first round.
      ...(round > 0 &&
        count === undefined && { interruptAfterTimeLimit: Math.max(1, milliseconds - progress.elapsedMs()) }),
    });
    // fast-check also reports a failure if the time ends before the first input of a round.
    if (details.counterexample !== null) {
      expect.fail(reportOf(name, details, seed + round));
    }
    progress.sometimes(done, figures);
  }
  progress.done(done, figures());
}

function reportOf<T>(name: TargetName, details: RunDetails<[T]>, seed: number): string {
  const [input] = details.counterexample ?? [];
  const error = details.errorInstance;
  return [
    `${name} failed: ${error instanceof Error ? error.stack : String(error)}`,
    `The input, after ${details.numShrinks} steps of shrinking:`,
    fc.stringify(input),
    "To run it again:",
    `FUZZ_SEED=${seed} npm run lane -- fuzz ${name}`,
    `After the fix, add it to test/fuzz/corpus/${name}/.`,
  ].join("\n");
}
