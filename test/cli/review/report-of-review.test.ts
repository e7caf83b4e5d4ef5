import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GameReviewSchema } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Analysis } from "../../../src/analysis/analysis.ts";
import {
  messageFromMoveReview,
  messageFromReview,
  searchMessage,
} from "../../../src/calls/convert-review.ts";
import { inOneGo } from "../../../src/chess/in-one-go.ts";
import { reportOfReview } from "../../../src/cli/review/report-of-review.ts";
import { annotate } from "../../../src/game/annotate.ts";
import { validated } from "../../analysis/made-up.ts";
import { buildOf } from "../../engine/build-of.ts";
import { evaluate, gameOf, review } from "../../game/games.ts";

type Evaluations = Parameters<typeof evaluate>[1];

function analysesOf(pgn: string, evaluations: Evaluations, others: Partial<Analysis> = {}): Analysis[] {
  const game = gameOf(pgn);
  return evaluate(game, evaluations).map(({ score, best }, index): Analysis => {
    const position = game.positions[index];
    if (position === undefined) {
      expect.fail("a position is missing");
    }
    return {
      request: { ...validated({ build: buildOf({ name: "Fish", path: "native" }), depth: 12 }), position },
      score,
      best,
      ponder: undefined,
      tablebase: undefined,
      lines: [],
      depth: 12,
      seldepth: 12,
      counters: { nodes: 1000, nps: 1000, timeMs: 10, hashfull: 0, tbhits: 0 },
      queueMs: 0,
      stopReason: position.terminal ? "terminal" : "depth",
      deterministic: true,
      cutShort: false,
      cached: false,
      warnings: [],
      ...others,
    };
  });
}

function reportOf(pgn: string, evaluations: Evaluations, columns = 80): string {
  const game = gameOf(pgn);
  const own = review(game, evaluations);
  const analyses = analysesOf(pgn, evaluations);
  const reviewed = { game, review: own, analyses, pgn: inOneGo(annotate(game, own)) };
  const moves = own.moves.map((move) => messageFromMoveReview(move, game, undefined));
  const message = create(GameReviewSchema, messageFromReview(reviewed, moves));
  return reportOfReview("Game 7", game, message, columns);
}

const best = (score: number, uci: string) => ({ score, lines: [[uci] as const] });

test("the report of a review shows the names and the accuracy of the players, and the decisive moves", () => {
  const pgn = '[White "Anna"]\n[Black "Benjamin"]\n\n1. e4 f6 2. a3 g5 1/2-1/2';
  const report = reportOf(pgn, [
    best(15, "e2e4"),
    best(20, "c7c5"),
    best(170, "d2d4"),
    best(60, "d7d5"),
    best(900, "d1h5"),
  ]);
  expect(report).toBe(`Game 7: Anna – Benjamin, 1/2-1/2

            accuracy     loss  ?!   ?  ??
  Anna        74.0 %    55 cp   1   0   0
  Benjamin    26.7 %   495 cp   0   1   1

   White ┤                ▆▆▆▆
         ┤                ████
    50 % ┤▁▁▁▁▁▁▁▁▇▇▇▇▃▃▃▃████
         ┤████████████████████
         ┤████████████████████
   Black ┤████████████████████
                  ↑       ↑
          ╵opening

  Inaccuracies, mistakes and blunders:

    1... f6?   (+0.20 → +1.70) Mistake. 1... c5 was best.
    2. a3?!    (+1.70 → +0.60) Inaccuracy. 2. d4 was best.
    2... g5??  (+0.60 → +9.00) Blunder. 2... d5 was best.

  Turning points, from the side to move; (played), [best]:

  1... f6?  (+0.20 → +1.70) Mistake. 1... c5 was best.

    1  R  N  B  K  Q  B  N  R
    2  P  P  P     P  P  P  P
    3     ·     ·     ·     ·
    4  ·     ·  P  ·     ·
    5     ·     ·    [·]    ·
    6  ·    (·)    ·     ·
    7  p  p (p) p  p [p] p  p
    8  r  n  b  k  q  b  n  r
       h  g  f  e  d  c  b  a

  2... g5??  (+0.60 → +9.00) Blunder. 2... d5 was best.

    1  R  N  B  K  Q  B  N  R
    2  P  P  P     P  P  P
    3     ·     ·     ·     P
    4  ·     ·  P  ·     ·
    5    (·)    · [ ] ·     ·
    6  ·     p     ·     ·
    7  p (p)    p [p] p  p  p
    8  r  n  b  k  q  b  n  r
       h  g  f  e  d  c  b  a

  Fish (native), depth 12, 5 positions, 5 searched, 5K nodes in 50 ms of engine
    time

`);
});

test("the report of a review numbers the moves from the move number of the start position, and omits unknown values", () => {
  const report = reportOf('[White "?"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 57"]\n\n57... Kd7', [
    best(0, "e8e7"),
    best(600, "e2e4"),
  ]);
  expect(report).toMatch(/^Game 7: White – Black, \*\n/);
  expect(report).toMatch(/^ {2}White +– +– +0 +0 +0$/m);
  expect(report).toMatch(/^ {2}57\.\.\. Kd7\?\? {2}\(0\.00 → \+6\.00\) Blunder\. 57\.\.\. Ke7 was best\.$/m);
});

test("the report of a review says that a game has no mistakes", () => {
  expect(reportOf("1. e4", [best(15, "e2e4"), best(15, "e7e5")])).toContain(
    "\n  No inaccuracies, no mistakes, no blunders.\n",
  );
});

test("the report of a review shows values for each game phase if a player moved in several phases", () => {
  const report = reportOf('[FEN "rn2k2n/8/8/8/8/8/8/RNB1K2Q w - - 0 1"]\n\n1. Qxh8+ Kd7 2. Ke2', []);
  expect(report).toMatch(/^ {2}White .+\n {4}middlegame .+\n {4}endgame .+\n {2}Black .+\n\n/m);
  expect(reportOf("1. e4", [])).not.toContain("opening  ");
});

test.each([45, 60])(
  "the report of a review is at most %i columns wide, and wraps lines between words",
  (columns) => {
    const name = "Maximiliana Featherstonehaugh-Cholmondeley";
    const pgn = `[White "${name}"]\n[Black "${name}"]\n\n1. e4 f6 2. a3 g5 1/2-1/2`;
    const found = [
      best(15, "e2e4"),
      best(20, "c7c5"),
      best(170, "d2d4"),
      best(60, "d7d5"),
      best(900, "d1h5"),
    ];
    const [narrow, wide] = [reportOf(pgn, found, columns), reportOf(pgn, found)];
    expect(narrow.split("\n").filter((line) => line.length > columns)).toEqual([]);
    expect(narrow).toMatch(/^ {2}Maxi.+… +74\.0 % +55 cp +1 +0 +0$/m);
    const wordsOf = (report: string) => report.slice(report.indexOf("Inaccuracies,")).match(/\S+/g);
    expect(wordsOf(narrow)).toEqual(wordsOf(wide));
  },
);

test("the report of a review contains no control characters in the names of players", () => {
  const report = reportOf('[White "\u009b31mred\u202e"]\n\n1. e4', [best(15, "e2e4"), best(15, "e7e5")]);
  expect(report).toContain("Game 7: \\u009b31mred\\u202e – Black");
});

test("the report of a review excludes finished positions, and excludes the search time of cached positions", () => {
  const mate = analysesOf("1. f3 e5 2. g4 Qh4#", []);
  expect(searchMessage(mate)).toMatchObject({
    positions: 4,
    searched: 4,
    cached: 0,
    nodes: 4000n,
    timeMs: 40n,
    deterministic: true,
  });
  const known = analysesOf("1. e4", [], { cached: true, deterministic: false });
  expect(searchMessage(known)).toMatchObject({
    searched: 0,
    cached: 2,
    nodes: 0n,
    timeMs: 0n,
    deterministic: false,
  });
});
