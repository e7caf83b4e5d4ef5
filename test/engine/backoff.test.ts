import { expect, test } from "vitest";
import { createBackoff } from "../../src/engine/backoff.ts";

/** A backoff, and its clock. */
function openBackoff(chance: number) {
  const clock = { ms: 1000 };
  const backoff = createBackoff(
    100,
    30_000,
    () => chance,
    () => clock.ms,
  );
  return {
    backoff,
    clock,
    /** The wait after each of this many failures, one after the other. */
    waitsOf: (failures: number) =>
      Array.from({ length: failures }, () => {
        clock.ms += backoff.waitMs;
        backoff.failed(clock.ms);
        return backoff.waitMs;
      }),
  };
}

test("the wait is 0 before the first failure, and grows with each failure up to a maximum", () => {
  const { backoff, waitsOf } = openBackoff(1);
  expect(backoff.waitMs).toBe(0);
  expect(waitsOf(7)).toEqual([100, 400, 1600, 6400, 25_600, 30_000, 30_000]);
});

test("failures are counted until an attempt succeeds", () => {
  const { backoff, waitsOf } = openBackoff(1);
  expect(backoff.failures).toBe(0);
  waitsOf(2);
  expect(backoff.failures).toBe(2);
  backoff.succeeded();
  expect(backoff.failures).toBe(0);
});

test("a wait is never shorter than the minimum, whatever the random number", () => {
  expect(openBackoff(0).waitsOf(3)).toEqual([100, 100, 100]);
});

test("the wait shrinks as time passes", () => {
  const { backoff, clock, waitsOf } = openBackoff(1);
  waitsOf(4);
  clock.ms += 6000;
  expect(backoff.waitMs).toBe(400);
  clock.ms += 6000;
  expect(backoff.waitMs).toBe(0);
});

test("failures of attempts that ran at the same time count once", () => {
  const { backoff, clock } = openBackoff(1);
  for (let at = 0; at < 8; at++) {
    clock.ms += 1;
    backoff.failed(1000);
  }
  expect(backoff.failures).toBe(1);
  expect(backoff.waitMs).toBe(93);
});

test("a success resets the wait", () => {
  const { backoff, waitsOf } = openBackoff(1);
  waitsOf(3);
  backoff.succeeded();
  expect(backoff.waitMs).toBe(0);
});
