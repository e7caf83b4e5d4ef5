import { expect, test } from "vitest";
import { type Backoff, createBackoff } from "../../src/engine/backoff.ts";

/** What a try has to wait after each of so many failures, one after the other. */
function waitsOf(backoff: Backoff, failures: number): number[] {
  return Array.from({ length: failures }, () => {
    backoff.failed(backoff.waitMs);
    return backoff.waitMs;
  });
}

test("nothing waits while nothing has failed, then ever longer up to a limit", () => {
  const backoff = createBackoff(100, 30_000, () => 1);
  expect(backoff.waitMs).toBe(0);
  expect(waitsOf(backoff, 7)).toEqual([100, 400, 1600, 6400, 25_600, 30_000, 30_000]);
});

test("a wait is never shorter than the least, whatever chance says", () => {
  expect(
    waitsOf(
      createBackoff(100, 30_000, () => 0),
      3,
    ),
  ).toEqual([100, 100, 100]);
});

test("failures of tries that were under way together count once", () => {
  const backoff = createBackoff(100, 30_000, () => 1);
  for (let at = 0; at < 8; at++) {
    backoff.failed(0);
  }
  expect(backoff.waitMs).toBe(100);
});

test("a success makes it forget", () => {
  const backoff = createBackoff(100, 30_000, () => 1);
  waitsOf(backoff, 3);
  backoff.succeeded();
  expect(backoff.waitMs).toBe(0);
});
