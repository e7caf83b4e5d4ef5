import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type Score, ScoreSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  GamePhase,
  Judgement,
  MoveLabel,
  type MoveReview,
  MoveReviewSchema,
} from "../../../gen/chess/analysis/v1/game_pb.ts";
import { mainlineOf } from "../../../web/src/game/game.ts";
import { gameFromPgn } from "../../../web/src/game/pgn.ts";
import { clockText } from "../../../web/src/moves/clock-text.ts";
import { bandsOf, courseOf } from "../../../web/src/review/course.ts";
import { judgedOf, nextJudged, remarksOn } from "../../../web/src/review/judged.ts";
import { scoreWords } from "../../../web/src/review/score-words.ts";

const cp = (value: number): Score => create(ScoreSchema, { value: { case: "cp", value } });
const mate = (value: number): Score => create(ScoreSchema, { value: { case: "mate", value } });

function gameOf(pgn: string) {
  const reading = gameFromPgn(pgn);
  return reading.kind === "game" ? reading.game : expect.fail(pgn);
}

function reviewOf(ply: number, phase: GamePhase, judgement?: Judgement): MoveReview {
  return create(MoveReviewSchema, {
    ply,
    phase,
    winPercent: 50 - ply,
    evaluation: cp(-10 * ply),
    move: { uci: "f2f3", san: "f3" },
    best: { move: { uci: "e2e4", san: "e4" } },
    ...(judgement !== undefined && { judgement }),
  });
}

const reviewed = [
  reviewOf(1, GamePhase.OPENING, Judgement.INACCURACY),
  reviewOf(2, GamePhase.OPENING),
  reviewOf(3, GamePhase.MIDDLEGAME, Judgement.BLUNDER),
];

test("the graph of a game has a point for each reviewed move, with its mark, words and value", () => {
  const line = mainlineOf(gameOf("1. f3 e5 2. g4 Qh4# 0-1"));
  const points = courseOf(line, reviewed, 51);
  expect(points.map(({ x, y, mark }) => [x, y, mark])).toEqual([
    [0, 51, undefined],
    [1, 49, "inaccuracy"],
    [2, 48, undefined],
    [3, 47, "blunder"],
  ]);
  expect(points[3]?.words).toBe("2. g4, blunder, White’s chances 47%");
  expect(points[2]?.tip).toBe("1… e5 −0.20");
  expect(courseOf(line, reviewed, undefined).map(({ x }) => x)).toEqual([1, 2, 3]);
});

test("the graph of a game shows each phase from the position before the phase's first move", () => {
  expect(bandsOf(reviewed)).toEqual([
    { name: "Opening", from: 0, to: 2 },
    { name: "Middlegame", from: 2, to: 3 },
  ]);
});

test("the nearest inaccuracy, mistake or blunder is found before and after a ply", () => {
  expect(reviewed.map((move) => judgedOf(move)?.sign)).toEqual(["?!", undefined, "??"]);
  expect(nextJudged(reviewed, 1, "behind")).toBe(3);
  expect(nextJudged(reviewed, 3, "before")).toBe(1);
  expect(nextJudged(reviewed, 3, "behind")).toBeUndefined();
  expect(nextJudged(reviewed, 1, "before")).toBeUndefined();
});

test.each([
  [
    "a judged move",
    { judgement: Judgement.INACCURACY, labels: [MoveLabel.BOOK] },
    "Inaccuracy. e4 was best.",
    [],
  ],
  ["a book move that was not the best", { labels: [MoveLabel.BOOK, 99 as MoveLabel] }, "", ["Book move"]],
  ["a move without a label", { labels: [] }, "e4 was best.", []],
  [
    "the best move",
    { best: { move: { uci: "f2f3", san: "f3" } }, labels: [MoveLabel.BEST] },
    "",
    ["Best move"],
  ],
])("the remarks on %s do not contradict each other", (_, fields, comment, labels) => {
  const best = { move: { uci: "e2e4", san: "e4" } };
  const move = create(MoveReviewSchema, { best, ...fields, move: { uci: "f2f3", san: "f3" } });
  expect(remarksOn(move)).toEqual({ comment, labels });
});

test.each([
  ["1.25 for White", cp(125)],
  ["0.40 for Black", cp(-40)],
  ["equal", cp(0)],
  ["mate in 3 for White", mate(3)],
  ["mate in 1 for Black", mate(-1)],
  ["checkmate", mate(0)],
  [undefined, undefined],
])("a score is described in words as: %s", (words, score) => {
  expect(scoreWords(score)).toBe(words);
});

test.each([
  [9_450, "0:09.4"],
  [187_000, "3:07"],
  [3_909_000, "1:05:09"],
])("a clock time of %i ms is written as %s", (ms, text) => {
  expect(clockText(ms)).toBe(text);
});
