import { describe, inject, test } from "vitest";
import { lackOf, type Need } from "./components.ts";

/**
 * Skips tests that need a component this machine lacks. No other test may be skipped. `require-components.ts` looks for the components,
 * reports each missing one, and fails the run in CI if one is missing or any test is skipped.
 */

/** `describe`, with all of this. */
export const describeWith = (...needs: readonly Need[]) => describe.runIf(areHere(needs));

/** `test`, with all of this. */
export const testWith = (...needs: readonly Need[]) => test.runIf(areHere(needs));

/** Rows of a table that need something. If it is not here, there are none, and one skipped test says so. */
export function rowsWith<T>(needs: readonly Need[], ...rows: readonly T[]): readonly T[] {
  if (areHere(needs)) {
    return rows;
  }
  test.skip(`left out here: ${needs.map(lackOf).join("; ")}`);
  return [];
}

function areHere(needs: readonly Need[]): boolean {
  const known = inject("needs");
  const unknown = needs.filter((need) => !known.includes(need));
  if (unknown.length > 0) {
    throw new Error(
      `the configuration of these tests does not list ${unknown.map(lackOf)} among their needs`,
    );
  }
  return !needs.some((need) => inject("missing").includes(need));
}
