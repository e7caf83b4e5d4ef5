import { expect, test } from "vitest";
import { linePath, percentOn } from "../../../web/src/graph/geometry.ts";

test.each([
  ["above the range of its axis at the right edge", [-5, 5], 9, 100],
  ["below the range of its axis at the left edge", [-5, 5], -9, 0],
  ["in the middle of an axis that has a single value", [3, 3], 3, 50],
] as const)("a graph puts a value %s", (_, range, value, percent) => {
  expect(percentOn(range, value)).toBe(percent);
});

test("a graph draws its line from left to right, with high values at the top", () => {
  const points = [
    { x: 0, y: 50 },
    { x: 1, y: 75 },
    { x: 2, y: 0 },
  ];
  expect(linePath(points, [0, 4])).toBe("M0 50L25 25L50 100");
  expect(linePath([], [0, 4])).toBe("");
});
