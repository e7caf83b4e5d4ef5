import { expect, test } from "vitest";
import { resultFromEvent } from "../../src/analysis/analysis.ts";
import { lastResultFromJson, resultFromJson, resultVersion } from "../../src/analysis/read-result.ts";
import { doneOf, lineOf, snapshotOf, validated } from "./made-up.ts";

const mateLine = lineOf(["a7b8q", "d6e7"], {
  score: { value: { kind: "mate", mate: 3 }, bound: "lower", wdl: undefined },
});
const searched = [
  resultFromEvent(doneOf(), validated()),
  resultFromEvent(
    doneOf({
      endedBy: "nodes",
      bestMove: "a7b8q",
      ponder: undefined,
      snapshot: snapshotOf({ lines: [mateLine], complete: false }),
    }),
    validated({ fen: "1n6/P7/3k4/8/8/8/8/4K2R w K - 0 1" }),
  ),
];
const written = JSON.stringify(searched[0]);

test.each(searched)("a search result is unchanged after writing and reading", (result) => {
  expect(resultFromJson(JSON.parse(JSON.stringify(result)))).toEqual(result);
});

test.each([
  ["the end by time", resultFromEvent(doneOf({ endedBy: "time" }), validated())],
  ["the end by depth", resultFromEvent(doneOf(), validated())],
])("the last result of a search survives conversion to JSON and back: %s", (_, result) => {
  const json = JSON.parse(JSON.stringify(result));
  expect(lastResultFromJson(json)).toEqual(result);
  expect(lastResultFromJson({ ...json, endedBy: "stop" })).toBeUndefined();
  expect(lastResultFromJson({ ...json, endedBy: undefined })).toBeUndefined();
  expect(lastResultFromJson({ ...json, lines: [] })).toBeUndefined();
});

test("a change to the JSON format of results needs a new format version", () => {
  const score = { value: { kind: "cp", cp: 30 }, bound: "exact", wdl: { win: 100, draw: 850, loss: 50 } };
  const move = { capture: false, check: false };
  expect({ resultVersion, ...JSON.parse(written) }).toEqual({
    resultVersion: 3,
    score,
    best: {
      ...move,
      uci: "e2e4",
      san: "e4",
      from: "e2",
      to: "e4",
      fenAfter: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    },
    ponder: {
      ...move,
      uci: "e7e5",
      san: "e5",
      from: "e7",
      to: "e5",
      fenAfter: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    },
    lines: [{ depth: 14, seldepth: 20, score, moves: ["e2e4", "e7e5"], san: ["e4", "e5"] }],
    depth: 14,
    seldepth: 20,
    counters: { nodes: 5000, nps: 100_000, timeMs: 50, hashfull: 3, tbhits: 0 },
    endedBy: "depth",
    deterministic: true,
    warnings: [],
  });
});

test.each([[null], [undefined], [1], ["result"], [[]], [{}], [{ lines: [] }]])(
  "a JSON value that is not a search result is rejected: %j",
  (json) => {
    expect(resultFromJson(json)).toBeUndefined();
  },
);

test.each([
  { endedBy: "time" },
  { endedBy: undefined },
  { deterministic: false },
  { lines: [] },
  { lines: "e2e4" },
  { score: 30 },
  { score: undefined },
  { best: "e2e4" },
  { best: undefined },
  { counters: undefined },
  { warnings: undefined },
])("a stored search result with %j is rejected", (wrong) => {
  expect(resultFromJson({ ...JSON.parse(written), ...wrong })).toBeUndefined();
});
