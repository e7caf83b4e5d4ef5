import type { Arbitrary, RunDetails } from "fast-check";
import fc from "fast-check";
import { expect } from "vitest";
import { budgetOf, type TargetName } from "./budget.ts";
import { startProgress } from "./progress.ts";

export interface Target<T> {
  readonly name: TargetName;
  readonly inputs: Arbitrary<T>;
  /** Throws for what must not be. May be asynchronous. */
  readonly check: (input: T) => unknown;
  /** Inputs that once found something, or reach what is seldom reached. They come first. */
  readonly corpus: readonly T[];
  /** Text for the report beside the number of inputs. */
  readonly figures?: () => string;
  /** Ends by this many inputs, and not by time. */
  readonly count?: number | undefined;
  /** How many inputs one stands for, where it is a group. */
  readonly sizeOf?: (input: T) => number;
}

/** Inputs per seed. A round can be repeated without the rounds before it. */
const roundRuns = 1000;

/**
 * Runs a target until its time is up. fast-check makes the inputs and shrinks those that fail. It is not guided by
 * coverage: Jazzer.js 4 needs a newer C library than Debian 12 has, and rewrites CommonJS, which none of ours is.
 */
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
      // The first round is run whole: it is how a failure is run again.
      ...(round > 0 &&
        count === undefined && { interruptAfterTimeLimit: Math.max(1, milliseconds - progress.elapsedMs()) }),
    });
    // A round that was broken off before its first run counts as failed, too.
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
    `FUZZ_SEED=${seed} npm run test:fuzz -- ${name}`,
    `Once mended, add it to test/fuzz/corpus/${name}/.`,
  ].join("\n");
}
