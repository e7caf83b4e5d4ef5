import { expect, test } from "vitest";
import type { Step, Sweep } from "../../bench/service/growth.ts";
import {
  coresTable,
  endOfOneProcess,
  growthOfDepth,
  perSecondOf,
  serverShare,
} from "../../bench/service/growth-tables.ts";

const step = (
  value: number,
  more: { requests?: number; enginesUs?: number; positions?: number } = {},
): Step => ({
  value,
  positions: more.positions ?? 1,
  turns: [
    {
      requests: more.requests ?? 100,
      seconds: 1,
      p50Ms: 1,
      p99Ms: 1,
      serverUs: 1000,
      enginesUs: more.enginesUs ?? 0,
      rssMib: 100,
    },
  ],
});

test("cores are as many as the processor time asks for, with room, and never none", () => {
  const depth: Sweep = { name: "depth", steps: [step(1), step(14, { enginesUs: 69_000 })] };
  const [, , shallow = "", deep = ""] = coresTable(depth).split("\n");
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  expect(cells(shallow)).toEqual(["1", "1.00", "1", "1", "1", "1", "2"]);
  expect(cells(deep)).toEqual(["14", "70.0", "1", "5", "10", "50", "100"]);
});

test("depth grows as the line through all deep ones does", () => {
  const steps = [step(1), step(8, { enginesUs: 9000 }), step(10, { enginesUs: 39_000 })];
  expect(growthOfDepth({ name: "depth", steps })).toBeCloseTo(2);
  const uneven = [9000, 9000, 9000, 79_000].map((enginesUs, index) => step(8 + index, { enginesUs }));
  expect(growthOfDepth({ name: "depth", steps: uneven })).toBeCloseTo(2 ** 0.9);
});

test("the server's share is of what a position takes in all", () => {
  const depth: Sweep = { name: "depth", steps: [step(1, { enginesUs: 1000 }), step(8, { enginesUs: 3000 })] };
  expect([1, 8].map((ply) => serverShare(depth, ply))).toEqual([50, 25]);
  expect(() => serverShare(depth, 14)).toThrow("growth by depth has no depth 14");
});

test("one process ends where it answers most", () => {
  const steps = [step(1, { requests: 300 }), step(8, { requests: 900 }), step(16, { requests: 800 })];
  expect(endOfOneProcess({ name: "at-once", steps })).toEqual({ perSecond: 900, callers: 8, cores: 0.9 });
});

test("a batch counts as its positions", () => {
  expect(perSecondOf(step(20, { positions: 20, requests: 10 }))?.median).toBe(200);
});
