import { expect, test } from "vitest";
import {
  areaPath,
  type Frame,
  indexByKey,
  linePath,
  nearestPoint,
  percentOn,
  placeIn,
} from "../../../web/src/graph/geometry.ts";

const frame: Frame = { x: [0, 4], y: [0, 100] };
const points = [
  { x: 0, y: 50 },
  { x: 1, y: 75 },
  { x: 2, y: 0 },
];

test("a graph puts high values at the top", () => {
  expect(placeIn(frame, { x: 1, y: 75 })).toEqual({ left: 25, top: 25 });
});

test("a graph keeps values outside of its axis at the edge", () => {
  expect(percentOn([-5, 5], 9)).toBe(100);
  expect(percentOn([-5, 5], -9)).toBe(0);
});

test("a graph puts the only value of an axis in its middle", () => {
  expect(percentOn([3, 3], 3)).toBe(50);
});

test("a graph draws a line through its points, from left to right", () => {
  expect(linePath(points, frame)).toBe("M0 50L25 25L50 100");
  expect(linePath([], frame)).toBe("");
});

test("a graph closes an area at its base", () => {
  expect(areaPath(points, frame, 50)).toBe("M0 50L25 25L50 100L50 50L0 50Z");
});

test("a graph has no area under a single point", () => {
  expect(areaPath(points.slice(0, 1), frame, 0)).toBe("");
});

test("a graph finds the point nearest to the pointer, also beyond the last", () => {
  expect(nearestPoint(points, frame, 0.3)).toBe(1);
  expect(nearestPoint(points, frame, 0.95)).toBe(2);
  expect(nearestPoint([], frame, 0.5)).toBeUndefined();
});

test.each([
  ["ArrowLeft", 4],
  ["ArrowRight", 6],
  ["Home", 0],
  ["End", 19],
  ["PageUp", 15],
  ["PageDown", 0],
])("the key %s in a graph leads from the sixth of 20 points to index %i", (key, index) => {
  expect(indexByKey(key, 5, 20)).toBe(index);
});

test("the keys in a graph stop at both ends, and other keys do nothing", () => {
  expect(indexByKey("ArrowLeft", 0, 20)).toBe(0);
  expect(indexByKey("ArrowRight", 19, 20)).toBe(19);
  expect(indexByKey("a", 5, 20)).toBeUndefined();
  expect(indexByKey("End", 0, 0)).toBeUndefined();
});
