import { describe, expect, test } from "vitest";
import type { Score } from "../../src/chess/score.ts";
import { analysisFromEvent } from "./analysis-from-event.ts";
import { doneOf, judgedOf, lineOf, snapshotOf } from "./made-up.ts";

const blackToMove = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
const codesOf = ({ warnings }: { readonly warnings: readonly { readonly code: string }[] }) =>
  warnings.map(({ code }) => code);

describe("what an engine said", () => {
  test("an analysis has SAN, the reply, and the time waited", () => {
    const analysis = analysisFromEvent(doneOf(), judgedOf(), 17);
    expect(analysis).toMatchObject({
      best: { uci: "e2e4", san: "e4" },
      ponder: { uci: "e7e5", san: "e5" },
      lines: [{ moves: ["e2e4", "e7e5"], san: ["e4", "e5"], depth: 14, seldepth: 20 }],
      depth: 14,
      seldepth: 20,
      counters: { nodes: 5000, nps: 100_000, timeMs: 50, hashfull: 3, tbhits: 0 },
      queueMs: 17,
      warnings: [],
    });
  });

  test("an analysis has no reply if the engine expects none", () => {
    const { ponder } = analysisFromEvent(doneOf({ ponder: undefined }), judgedOf(), 0);
    expect(ponder).toBeUndefined();
  });

  test.each<[string, Score, Score]>([
    [
      "centipawns, and the chances with them",
      { value: { kind: "cp", cp: 30 }, bound: "exact", wdl: { win: 100, draw: 850, loss: 50 } },
      { value: { kind: "cp", cp: -30 }, bound: "exact", wdl: { win: 50, draw: 850, loss: 100 } },
    ],
    [
      "a mate, and its bound with it",
      { value: { kind: "mate", mate: 3 }, bound: "lower", wdl: undefined },
      { value: { kind: "mate", mate: -3 }, bound: "upper", wdl: undefined },
    ],
  ])("an analysis of Black's move is turned to White's view: %s", (_, said, told) => {
    const snapshot = snapshotOf({ lines: [lineOf(["e7e5"], { score: said })] });
    const done = doneOf({ snapshot, bestMove: "e7e5", ponder: undefined });
    const analysis = analysisFromEvent(done, judgedOf({ fen: blackToMove }), 0);
    expect(analysis.score).toEqual(told);
    expect(analysis.lines[0]?.score).toEqual(told);
  });

  test("a line of an analysis ends before a move that is not legal", () => {
    const snapshot = snapshotOf({ lines: [lineOf(["e2e4", "e7e5", "a1a8", "h7h6"])] });
    const { lines } = analysisFromEvent(doneOf({ snapshot }), judgedOf(), 0);
    expect(lines).toMatchObject([{ moves: ["e2e4", "e7e5"], san: ["e4", "e5"] }]);
  });

  test("an analysis is refused if its best move is not legal", () => {
    expect(() => analysisFromEvent(doneOf({ bestMove: "a1a8" }), judgedOf(), 0)).toThrow(
      /stockfish-19 answered a1a8, which is not legal/,
    );
  });
});

describe("a warning", () => {
  test("a warning says that time ended the search before its first iteration was complete", () => {
    const snapshot = snapshotOf({ complete: false, depth: 1 });
    const analysis = analysisFromEvent(
      doneOf({ snapshot, endedBy: "time" }),
      judgedOf({ movetimeMs: 50 }),
      0,
    );
    expect(codesOf(analysis)).toEqual(["incomplete_iteration"]);
  });

  test("a warning says that nodes ended the search before its first iteration was complete", () => {
    const snapshot = snapshotOf({ complete: false, depth: 1 });
    const done = doneOf({ snapshot, endedBy: "nodes", bestMove: "d2d4", ponder: undefined });
    const { warnings, deterministic, stopReason } = analysisFromEvent(done, judgedOf({ nodes: 1 }), 0);
    expect(warnings).toMatchObject([
      {
        code: "incomplete_iteration",
        field: "nodes",
        message: expect.stringMatching(/^The nodes ran out before /),
      },
      { code: "best_move_beyond_lines", message: expect.stringMatching(/^The nodes ran out while /) },
    ]);
    expect({ deterministic, stopReason }).toEqual({ deterministic: true, stopReason: "nodes" });
  });

  test("a warning says that the best move is newer than the lines, and both are kept", () => {
    const done = doneOf({ bestMove: "d2d4", ponder: "d7d5", endedBy: "time" });
    const analysis = analysisFromEvent(done, judgedOf({ movetimeMs: 50 }), 0);
    expect(codesOf(analysis)).toEqual(["best_move_beyond_lines"]);
    expect(analysis).toMatchObject({
      best: { uci: "d2d4" },
      ponder: { uci: "d7d5" },
      lines: [{ moves: ["e2e4", "e7e5"] }],
      score: { value: { cp: 30 } },
    });
  });

  test("the move of a weakened engine gets no warning, because it may always differ", () => {
    const done = doneOf({ bestMove: "d2d4", ponder: "d7d5" });
    expect(codesOf(analysisFromEvent(done, judgedOf({ weakened: true }), 0))).toEqual([]);
  });

  test("the best move and the lines are compared as moves, because castling has two notations", () => {
    const fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    const snapshot = snapshotOf({ lines: [lineOf(["e1h1"])] });
    const done = doneOf({ snapshot, bestMove: "e1g1", ponder: undefined });
    const analysis = analysisFromEvent(done, judgedOf({ fen }), 0);
    expect(codesOf(analysis)).toEqual([]);
    expect(analysis.best).toMatchObject({ uci: "e1g1", san: "O-O" });
  });

  test("warnings of the request come before warnings of the answer", () => {
    const warnings = [{ code: "clocks_defaulted", message: "…", field: "fen" }];
    const snapshot = snapshotOf({ complete: false });
    const analysis = analysisFromEvent(doneOf({ snapshot }), judgedOf({ warnings }), 0);
    expect(codesOf(analysis)).toEqual(["clocks_defaulted", "incomplete_iteration"]);
  });
});
