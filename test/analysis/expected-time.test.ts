import { describe, expect, test } from "vitest";
import { createExpectedTimes, type SearchLimits } from "../../src/analysis/expected-time.ts";
import { buildOf } from "../engine/build-of.ts";

const build = buildOf();
const limitsOf = (depth: number, told: Partial<SearchLimits> = {}): SearchLimits => ({
  depth,
  multipv: 1,
  movetimeMs: undefined,
  ...told,
});

describe("the time that a search is expected to take", () => {
  test("grows with depth and with lines", () => {
    const times = createExpectedTimes();
    const expected = Array.from({ length: 30 }, (_, index) => times.expect(build, limitsOf(index + 1)));
    expect(expected).toEqual(expected.toSorted((a, b) => a - b));
    expect(times.expect(build, limitsOf(14, { multipv: 3 }))).toBeGreaterThan(3 * 68);
  });

  test("is never more than its movetime, and never more than any search takes", () => {
    const times = createExpectedTimes();
    times.learn(build, limitsOf(14), 60_000, "depth");
    expect(times.expect(build, limitsOf(30, { movetimeMs: 700 }))).toBe(700);
    expect(times.expect(build, limitsOf(30))).toBe(60_000);
  });

  test("follows what searches on this machine take, at other depths too", () => {
    const times = createExpectedTimes();
    const before = times.expect(build, limitsOf(18));
    for (let round = 0; round < 50; round++) {
      times.learn(build, limitsOf(14), 3 * 68, "depth");
    }
    const after = times.expect(build, limitsOf(18));
    expect(after / before).toBeGreaterThan(2.7);
    expect(after / before).toBeLessThan(3.1);
    for (let round = 0; round < 200; round++) {
      times.learn(build, limitsOf(14), 34, "depth");
    }
    expect(times.expect(build, limitsOf(18)) / before).toBeLessThan(0.6);
  });

  test("is learnt for each build", () => {
    const times = createExpectedTimes();
    const other = buildOf({ path: "native" });
    const before = times.expect(other, limitsOf(14));
    times.learn(build, limitsOf(14), 5000, "depth");
    expect(times.expect(other, limitsOf(14))).toBe(before);
  });

  test("of deep searches is not learnt from the rounding of shallow ones", () => {
    const times = createExpectedTimes();
    times.learn(build, limitsOf(20), 2275, "depth");
    const before = times.expect(build, limitsOf(20));
    for (let round = 0; round < 5; round++) {
      times.learn(build, limitsOf(1), 3, "depth");
    }
    expect(times.expect(build, limitsOf(20)) / before).toBeLessThan(1.05);
  });

  test("is not shortened by searches that time has cut short", () => {
    const times = createExpectedTimes();
    const before = times.expect(build, limitsOf(20));
    times.learn(build, limitsOf(20), 50, "time");
    expect(times.expect(build, limitsOf(20))).toBe(before);
    times.learn(build, limitsOf(20), 9000, "time");
    expect(times.expect(build, limitsOf(20))).toBeGreaterThan(2 * before);
  });
});
