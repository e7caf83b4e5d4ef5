import { expect, test } from "vitest";
import type { Analysis } from "../../src/analysis/analysis.ts";
import { reportOfReview, searchTotals } from "../../src/cli/report-of-review.ts";
import { annotate } from "../../src/game/annotate.ts";
import { inOneGo } from "../../src/thread/event-loop.ts";
import { buildOf } from "../engine/build-of.ts";
import { evaluate, gameOf, review } from "../game/games.ts";

type Evaluations = Parameters<typeof evaluate>[1];

function analysesOf(pgn: string, evaluations: Evaluations, others: Partial<Analysis> = {}): Analysis[] {
  const game = gameOf(pgn);
  return evaluate(game, evaluations).map(({ score, best }, index): Analysis => {
    const position = game.positions[index];
    if (position === undefined) {
      expect.fail("a position is missing");
    }
    return {
      request: {
        position,
        build: buildOf({ name: "Fish", path: "native" }),
        depth: 12,
        nodes: undefined,
        multipv: 1,
        movetimeMs: undefined,
        searchMoves: [],
        options: {},
        effectiveOptions: {},
        weakened: false,
        warnings: [],
      },
      score,
      best,
      ponder: undefined,
      lines: [],
      depth: 12,
      seldepth: 12,
      counters: { nodes: 1000, nps: 1000, timeMs: 10, hashfull: 0, tbhits: 0 },
      queueMs: 0,
      stopReason: position.terminal ? "terminal" : "depth",
      deterministic: true,
      cached: false,
      warnings: [],
      ...others,
    };
  });
}

function reportOf(pgn: string, evaluations: Evaluations): string {
  const game = gameOf(pgn);
  const own = review(game, evaluations);
  const analyses = analysesOf(pgn, evaluations);
  return reportOfReview("Game 7", { game, review: own, analyses, pgn: inOneGo(annotate(game, own)) });
}

const best = (score: number, uci: string) => ({ score, lines: [[uci] as const] });

test("a report has who played, how well, and where the game turned", () => {
  const pgn = '[White "Anna"]\n[Black "Benjamin"]\n\n1. e4 f6 2. a3 g5 1/2-1/2';
  const report = reportOf(pgn, [
    best(15, "e2e4"),
    best(20, "c7c5"),
    best(170, "d2d4"),
    best(60, "d7d5"),
    best(900, "d1h5"),
  ]);
  expect(report).toBe(`Game 7: Anna – Benjamin, 1/2-1/2

            accuracy  average loss  inaccuracies  mistakes  blunders
  Anna        74.0 %         55 cp             1         0         0
  Benjamin    26.7 %        495 cp             0         1         1

  1...  f6?   (0.20 → 1.70) Mistake. c5 was best.
  2...  g5??  (0.60 → 9.00) Blunder. d5 was best.

  Fish (native), depth 12, 5 positions, 5 searched, 5K nodes in 50 ms of engine time

`);
});

test("numbers are those of the position, and what nobody knows is left out", () => {
  const report = reportOf('[White "?"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 57"]\n\n57... Kd7', [
    best(0, "e8e7"),
    best(600, "e2e4"),
  ]);
  expect(report).toMatch(/^Game 7: White – Black, \*\n/);
  expect(report).toMatch(/^ {2}White +– +– +0 +0 +0$/m);
  expect(report).toMatch(/^ {2}57\.\.\. {2}Kd7\?\? /m);
});

test("a game without faults says so", () => {
  expect(reportOf("1. e4", [best(15, "e2e4"), best(15, "e7e5")])).toContain(
    "\n  No mistakes, no blunders.\n",
  );
});

test("names cannot tell the terminal anything", () => {
  const report = reportOf('[White "\u009b31mred\u202e"]\n\n1. e4', [best(15, "e2e4"), best(15, "e7e5")]);
  expect(report).toContain("Game 7: \\u009b31mred\\u202e – Black");
});

test("finished positions are not counted, and what was known before costs nothing", () => {
  const mate = analysesOf("1. f3 e5 2. g4 Qh4#", []);
  expect(searchTotals(mate)).toEqual({
    positions: 4,
    searched: 4,
    cached: 0,
    nodes: 4000,
    timeMs: 40,
    deterministic: true,
  });
  const known = analysesOf("1. e4", [], { cached: true, deterministic: false });
  expect(searchTotals(known)).toMatchObject({
    searched: 0,
    cached: 2,
    nodes: 0,
    timeMs: 0,
    deterministic: false,
  });
});
