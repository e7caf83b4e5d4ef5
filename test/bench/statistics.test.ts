import { describe, expect, test } from "vitest";
import { figures, quantile, ratioOf, spreadOf, type Turn } from "../../bench/service/statistics.ts";

const turn = (requests: number): Turn => ({
  requests,
  seconds: 2,
  p50Ms: 1,
  p99Ms: 2,
  serverUs: 500,
  enginesUs: 100,
  rssMib: 90,
});

describe("statistics of a benchmark", () => {
  test("a benchmark reports the median, the minimum and the maximum of its rounds", () => {
    const turns = [turn(300), turn(100), turn(110)];
    expect(spreadOf(turns, figures.perMinute)).toEqual({ median: 3300, least: 3000, most: 9000 });
  });

  test("two benchmarks are compared round by round, so a slow machine does not change their ratio", () => {
    const own = [turn(80), turn(40), turn(8)];
    const others = [turn(100), turn(50), turn(10)];
    expect(ratioOf(own, others, figures.perMinute)).toEqual({ median: 0.8, least: 0.8, most: 0.8 });
  });
});

test("a quantile is interpolated between the two nearest values", () => {
  expect(quantile([1, 2, 3, 5], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 5], 1)).toBe(5);
  expect(quantile([7], 0.99)).toBe(7);
});
