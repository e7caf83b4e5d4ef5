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
    /** What a try has to wait after each of so many failures, one after the other. */
    waitsOf: (failures: number) =>
      Array.from({ length: failures }, () => {
        clock.ms += backoff.waitMs;
        backoff.failed(clock.ms);
        return backoff.waitMs;
      }),
  };
}

test("no wait comes before the first failure, then ever longer waits up to a limit", () => {
  const { backoff, waitsOf } = openBackoff(1);
  expect(backoff.waitMs).toBe(0);
  expect(waitsOf(7)).toEqual([100, 400, 1600, 6400, 25_600, 30_000, 30_000]);
});

test("failures are counted until one start succeeds, and several together count as one", () => {
  const { backoff, clock, waitsOf } = openBackoff(1);
  expect(backoff.failures).toBe(0);
  waitsOf(2);
  backoff.failed(clock.ms - 1);
  expect(backoff.failures).toBe(2);
  backoff.succeeded();
  expect(backoff.failures).toBe(0);
});

test("a wait is never shorter than the minimum, whatever the random number", () => {
  expect(openBackoff(0).waitsOf(3)).toEqual([100, 100, 100]);
});

test("a later caller waits less", () => {
  const { backoff, clock, waitsOf } = openBackoff(1);
  waitsOf(4);
  clock.ms += 6000;
  expect(backoff.waitMs).toBe(400);
  clock.ms += 6000;
  expect(backoff.waitMs).toBe(0);
});

test("failures of tries that were under way together count once", () => {
  const { backoff, clock } = openBackoff(1);
  for (let at = 0; at < 8; at++) {
    clock.ms += 1;
    backoff.failed(1000);
  }
  expect(backoff.waitMs).toBe(93);
});

test("a success resets the failures", () => {
  const { backoff, waitsOf } = openBackoff(1);
  waitsOf(3);
  backoff.succeeded();
  expect(backoff.waitMs).toBe(0);
});
