import { describe, inject, test } from "vitest";
import { lackOf, type Need } from "./components.ts";

/**
 * Skips tests whose components are missing on this machine. Tests must not be skipped for other reasons.
 * `require-components.ts` reports missing components, and fails the run in CI.
 */

/** `describe`, skipped unless all these components are installed. */
export const describeWith = (...needs: readonly Need[]) => describe.runIf(areHere(needs));

/** `test`, skipped unless all these components are installed. */
export const testWith = (...needs: readonly Need[]) => test.runIf(areHere(needs));

/**
 * Returns the rows of a test table if all these components are installed. Otherwise returns no rows, and registers one skipped
 * test.
 */
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
