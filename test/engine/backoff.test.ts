import { expect, test } from "vitest";
import { createBackoff } from "../../src/engine/backoff.ts";

test("the first try does not wait, the next ones ever longer up to a limit", () => {
  const backoff = createBackoff(100, 30_000, () => 1);
  const waits = Array.from({ length: 8 }, () => backoff.next());
  expect(waits).toEqual([0, 400, 1600, 6400, 25_600, 30_000, 30_000, 30_000]);
});

test("a wait is never shorter than the least, whatever chance says", () => {
  const backoff = createBackoff(100, 30_000, () => 0);
  expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([0, 100, 100]);
});

test("a success makes it forget", () => {
  const backoff = createBackoff(100, 30_000, () => 1);
  backoff.next();
  backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(0);
});
