import { describe, expect, test } from "vitest";
import {
  createExpectedTimes,
  type EndedSearch,
  type SearchLimits,
} from "../../src/analysis/expected-time.ts";
import type { SearchDone } from "../../src/engine/engine.ts";
import { buildOf } from "../engine/build-of.ts";

const build = buildOf();
const limitsOf = (depth: number, overrides: Partial<SearchLimits> = {}): SearchLimits => ({
  depth,
  nodes: undefined,
  multipv: 1,
  movetimeMs: undefined,
  ...overrides,
});
const took = (timeMs: number, endedBy: SearchDone["endedBy"], nodes = timeMs * 450): EndedSearch => ({
  endedBy,
  snapshot: { counters: { nodes, timeMs } },
});

describe("the time that a search is expected to take", () => {
  test("the expected time of a search increases with depth and with the number of lines", () => {
    const times = createExpectedTimes();
    const expected = Array.from({ length: 30 }, (_, index) => times.expect(build, limitsOf(index + 1)));
    expect(expected).toEqual(expected.toSorted((a, b) => a - b));
    expect(times.expect(build, limitsOf(14, { multipv: 3 }))).toBeGreaterThan(3 * 68);
  });

  test("the expected time of a search is at most its movetime, and at most the time limit of the service", () => {
    const times = createExpectedTimes();
    times.learn(build, limitsOf(14), took(60_000, "depth"));
    expect(times.expect(build, limitsOf(30, { movetimeMs: 700 }))).toBe(700);
    expect(times.expect(build, limitsOf(30))).toBe(60_000);
  });

  test("the expected time adapts to the searches on this machine, also for other depths", () => {
    const times = createExpectedTimes();
    const before = times.expect(build, limitsOf(18));
    const learn = (ms: number) => {
      for (let round = 0; round < 600; round++) {
        times.learn(build, limitsOf(14), took(ms, "depth"));
      }
    };
    learn(3 * 68);
    expect(times.expect(build, limitsOf(18)) / before).toBeCloseTo(3, 1);
    learn(34);
    expect(times.expect(build, limitsOf(18)) / before).toBeCloseTo(0.5, 1);
  });

  test.each([1, 10, 50])(
    "after %i searches, the expected time fits an engine that is a hundred thousand times slower a node",
    (searches) => {
      const times = createExpectedTimes();
      const byNodes = limitsOf(14, { depth: undefined, nodes: 20 });
      for (let search = 0; search < searches; search++) {
        times.learn(build, byNodes, took(4000, "nodes", 20));
      }
      const expected = times.expect(build, byNodes);
      expect(expected).toBeGreaterThan(4000 / 2.1);
      expect(expected).toBeLessThan(4100);
    },
  );

  test("the expected time of a search is between one eighth of the built-in estimate and eight times the estimate", () => {
    const times = createExpectedTimes();
    const before = times.expect(build, limitsOf(14));
    const learn = (ms: number) => {
      for (let round = 0; round < 600; round++) {
        times.learn(build, limitsOf(14), took(ms, "depth"));
      }
    };
    learn(60_000);
    expect(times.expect(build, limitsOf(14)) / before).toBeCloseTo(8, 0);
    learn(0);
    expect(before / times.expect(build, limitsOf(14))).toBeGreaterThan(6);
  });

  test("one very slow position hardly changes the expected time", () => {
    const times = createExpectedTimes();
    const before = times.expect(build, limitsOf(14));
    times.learn(build, limitsOf(14), took(60_000, "depth"));
    expect(times.expect(build, limitsOf(14)) / before).toBeLessThan(1.4);
  });

  test("the expected time increases with the node limit, unless another limit ends the search earlier", () => {
    const times = createExpectedTimes();
    const ofNodes = (nodes: number, overrides: Partial<SearchLimits> = {}) =>
      times.expect(build, { ...limitsOf(1), depth: undefined, nodes, ...overrides });
    expect(ofNodes(1)).toBeLessThan(3);
    expect(ofNodes(2_000_000) - ofNodes(1_000_000)).toBeCloseTo(ofNodes(1_000_000) - ofNodes(0), 6);
    expect(ofNodes(1_000_000_000)).toBe(60_000);
    expect(ofNodes(1_000_000_000, { movetimeMs: 700 })).toBe(700);
    expect(ofNodes(1_000_000, { multipv: 10 })).toBe(ofNodes(1_000_000));
    expect(ofNodes(1_000_000_000, { depth: 12 })).toBe(times.expect(build, limitsOf(12)));
    expect(ofNodes(100, { depth: 30 })).toBe(ofNodes(100));
  });

  test("the expected time with a node limit adapts to the nodes per second of all searches", () => {
    const times = createExpectedTimes();
    const million = { ...limitsOf(1), depth: undefined, nodes: 1_000_000 };
    const before = times.expect(build, million);
    for (let round = 0; round < 600; round++) {
      times.learn(build, limitsOf(14), took(3 * 68, "depth", 68 * 450));
    }
    expect(times.expect(build, million) / before).toBeCloseTo(3, 1);
    for (let round = 0; round < 600; round++) {
      times.learn(build, million, took(2222, "nodes", 1_000_000));
    }
    expect(times.expect(build, million) / before).toBeCloseTo(1, 1);
  });

  test.each<[string, number, Partial<SearchLimits>, EndedSearch]>([
    ["has a mate that is found immediately", 16, {}, took(1, "depth", 300)],
    ["takes long at its depth", 12, { multipv: 3 }, took(800, "depth")],
  ])("the expected time with a node limit is not changed by a position that %s", (_, depth, more, done) => {
    const times = createExpectedTimes();
    const nodes = { ...limitsOf(1), depth: undefined, nodes: 250_000 };
    const before = times.expect(build, nodes);
    for (let round = 0; round < 120; round++) {
      times.learn(build, limitsOf(depth, more), done);
    }
    expect(times.expect(build, nodes) / before).toBeCloseTo(1, 1);
  });

  test("a search without a depth limit that ends before its node limit does not reduce the expected time", () => {
    const times = createExpectedTimes();
    const before = times.expect(build, limitsOf(20));
    times.learn(build, { ...limitsOf(1), depth: undefined, nodes: 1_000_000_000 }, took(5, "depth"));
    expect(times.expect(build, limitsOf(20))).toBe(before);
  });

  test("the expected time is measured separately for each build", () => {
    const times = createExpectedTimes();
    const other = buildOf({ path: "native" });
    const before = times.expect(other, limitsOf(14));
    times.learn(build, limitsOf(14), took(5000, "depth"));
    expect(times.expect(other, limitsOf(14))).toBe(before);
  });

  test("the expected time of deep searches is not distorted by rounded times of shallow searches", () => {
    const times = createExpectedTimes();
    times.learn(build, limitsOf(20), took(2275, "depth"));
    const before = times.expect(build, limitsOf(20));
    for (let round = 0; round < 5; round++) {
      times.learn(build, limitsOf(1), took(3, "depth"));
    }
    expect(times.expect(build, limitsOf(20)) / before).toBeLessThan(1.05);
  });

  test("the expected time is not reduced by searches that reached their time limit", () => {
    const times = createExpectedTimes();
    const before = times.expect(build, limitsOf(20));
    times.learn(build, limitsOf(20), took(50, "time"));
    expect(times.expect(build, limitsOf(20))).toBe(before);
    times.learn(build, limitsOf(20), took(9000, "time"));
    expect(times.expect(build, limitsOf(20))).toBeGreaterThan(1.1 * before);
  });
});
