import { create } from "@bufbuild/protobuf";
import { INITIAL_FEN } from "chessops/fen";
import { describe, expect, test } from "vitest";
import { type Score, ScoreSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  GamePhase,
  GameReviewSchema,
  Judgement,
  MoveLabel,
  type MoveReview,
  MoveReviewSchema,
} from "../../../gen/chess/analysis/v1/game_pb.ts";
import { clockText } from "../../../web/src/review/clock-text.ts";
import { bandsOf, courseOf, startPercent } from "../../../web/src/review/course.ts";
import { judgedOf, labelsOf, nextJudged } from "../../../web/src/review/judged.ts";
import { moveNumber, moveRows } from "../../../web/src/review/move-number.ts";
import { playedGame, withExplained } from "../../../web/src/review/played-game.ts";
import { scoreWords } from "../../../web/src/review/score-words.ts";
import { missedMove, movesTo, placeByKey, positionAt } from "../../../web/src/review/shown-place.ts";

const foolsMate = playedGame("1. f3 e5 2. g4 Qh4# 0-1");
const blackFirst = "4k3/8/8/8/8/8/8/4K2R b K - 0 12";

const cp = (value: number): Score => create(ScoreSchema, { value: { case: "cp", value } });
const mate = (value: number): Score => create(ScoreSchema, { value: { case: "mate", value } });

function reviewOf(ply: number, phase: GamePhase, judgement?: Judgement): MoveReview {
  return create(MoveReviewSchema, {
    ply,
    phase,
    winPercent: 50 - ply,
    move: { uci: "f2f3", san: "f3", from: "f2", to: "f3", fenAfter: `fen ${ply}` },
    best: {
      move: { uci: "e2e4", san: "e4", from: "e2", to: "e4" },
      moves: ["e2e4", "e7e5", "g1f3"],
      san: ["e4", "e5", "Nf3"],
    },
    ...(judgement !== undefined && { judgement }),
  });
}

const explained = [
  reviewOf(1, GamePhase.OPENING, Judgement.INACCURACY),
  reviewOf(2, GamePhase.OPENING),
  reviewOf(3, GamePhase.MIDDLEGAME, Judgement.BLUNDER),
];

test("numbers of moves count both sides", () => {
  expect([1, 2, 3].map((ply) => moveNumber(INITIAL_FEN, ply))).toEqual(["1.", "1…", "2."]);
});

test("numbers of moves go on from a position in which Black begins", () => {
  expect([1, 2].map((ply) => moveNumber(blackFirst, ply))).toEqual(["12…", "13."]);
  expect(moveRows(blackFirst, 2)).toEqual([
    { number: 12, white: undefined, black: 1 },
    { number: 13, white: 2, black: undefined },
  ]);
});

describe("a game that the page plays itself", () => {
  test("the page plays a game with correct SAN and all positions", () => {
    expect(foolsMate.moves.map(({ san }) => san)).toEqual(["f3", "e5", "g4", "Qh4#"]);
    expect(foolsMate.moves.at(-1)).toMatchObject({ from: "d8", to: "h4" });
    expect(foolsMate.moves.at(-1)?.fen).toMatch(/^rnb1kbnr\/pppp1ppp/);
  });

  test("the page plays a game up to the first illegal move", () => {
    expect(playedGame("1. e4 e5 2. Ke3 Nf6")).toMatchObject({ moves: [{}, {}], isWhole: false });
    expect(foolsMate.isWhole).toBe(true);
  });

  test("the page plays no moves from an invalid position", () => {
    expect(playedGame('[FEN "nonsense"]\n\n1. e4').moves).toEqual([]);
    expect(playedGame("").moves).toEqual([]);
  });

  test("the page plays a game from its FEN, also in Chess960", () => {
    const fen = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1";
    const { startFen, moves } = playedGame(`[Variant "Chess960"]\n[FEN "${fen}"]\n\n1. f3 f6 2. Nf2`);
    expect(startFen.split(" ")[0]).toBe(fen.split(" ")[0]);
    expect(moves).toHaveLength(3);
  });

  test("the page shows the moves of the service as far as they have come", () => {
    const { moves } = withExplained(foolsMate, undefined, explained.slice(0, 1));
    expect(moves.map(({ fen }) => fen.startsWith("fen"))).toEqual([true, false, false, false]);
    const review = create(GameReviewSchema, { startFen: blackFirst, tags: { White: "A" } });
    expect(withExplained(foolsMate, review, [])).toMatchObject({ startFen: blackFirst });
  });
});

describe("the course of a game", () => {
  test("the course of a game begins with the assumed standard start, or with the found evaluation", () => {
    expect(startPercent(INITIAL_FEN, undefined)).toBeCloseTo(51.38, 2);
    expect(startPercent(INITIAL_FEN.replace("0 1", "0 5"), undefined)).toBeCloseTo(51.38, 2);
    expect(startPercent(blackFirst, undefined)).toBeUndefined();
    expect(startPercent(blackFirst, mate(-3))).toBeCloseTo(2.4553, 4);
    expect(startPercent(blackFirst, cp(0))).toBe(50);
  });

  test("the course of a game has a point for each ply, and judged plies have a mark and a word", () => {
    const points = courseOf(INITIAL_FEN, explained, 51);
    expect(points.map(({ x, y, mark }) => [x, y, mark])).toEqual([
      [0, 51, undefined],
      [1, 49, "ring"],
      [2, 48, undefined],
      [3, 47, "diamond"],
    ]);
    expect(points[3]?.words).toBe("2. f3, blunder, White’s chances 47%");
  });

  test("the course of a game has no point for a start without an evaluation", () => {
    expect(courseOf(blackFirst, explained, undefined).map(({ x }) => x)).toEqual([1, 2, 3]);
  });

  test("the course of a game has phases as bands, from the position before their first move", () => {
    expect(bandsOf(explained)).toEqual([
      { name: "Opening", from: 0, to: 2 },
      { name: "Middlegame", from: 2, to: 3 },
    ]);
  });
});

describe("judgements", () => {
  test("judgements have a sign, and moves without one have none", () => {
    expect(explained.map((move) => judgedOf(move)?.sign)).toEqual(["?!", undefined, "??"]);
    expect(judgedOf(undefined)).toBeUndefined();
  });

  test("judgements are found before and after a ply", () => {
    expect(nextJudged(explained, 1, "behind")).toBe(3);
    expect(nextJudged(explained, 3, "before")).toBe(1);
    expect(nextJudged(explained, 3, "behind")).toBeUndefined();
    expect(nextJudged(explained, 1, "before")).toBeUndefined();
  });

  test("judgements stand beside labels, and unknown labels are left out", () => {
    const labels = [MoveLabel.BOOK, 99, MoveLabel.ONLY_MOVE];
    expect(labelsOf(create(MoveReviewSchema, { labels }))).toEqual(["book", "onlyMove"]);
  });
});

test.each([
  [cp(125), "1.25 for White"],
  [cp(-40), "0.40 for Black"],
  [cp(0), "equal"],
  [mate(3), "mate in 3 for White"],
  [mate(-1), "mate in 1 for Black"],
  [mate(0), "checkmate"],
  [undefined, undefined],
])("the score is written as %2$s: %#", (score, words) => {
  expect(scoreWords(score)).toBe(words);
});

describe("places in a game", () => {
  test("a place in a game has its position and the move that led there", () => {
    expect(positionAt(foolsMate, [], { ply: 0, step: 0 })).toEqual({ fen: INITIAL_FEN, move: undefined });
    expect(positionAt(foolsMate, [], { ply: 4, step: 0 }).move).toMatchObject({ from: "d8", to: "h4" });
  });

  test("a place in a game may be in the line that was best", () => {
    const { fen, move } = positionAt(foolsMate, explained, { ply: 1, step: 2 });
    expect(fen).toMatch(/^rnbqkbnr\/pppp1ppp\/8\/4p3\/4P3\//);
    expect(move).toEqual({ from: "e7", to: "e5" });
  });

  test("moves lead to places in a game", () => {
    expect(movesTo(foolsMate, explained, { ply: 2, step: 0 })).toEqual(["f3", "e5"]);
    expect(movesTo(foolsMate, explained, { ply: 1, step: 2 })).toEqual(["e4", "e5"]);
  });

  test.each([
    ["ArrowRight", { ply: 1, step: 0 }, { ply: 2, step: 0 }],
    ["ArrowRight", { ply: 4, step: 0 }, { ply: 4, step: 0 }],
    ["ArrowLeft", { ply: 0, step: 0 }, { ply: 0, step: 0 }],
    ["ArrowRight", { ply: 1, step: 3 }, { ply: 1, step: 3 }],
    ["ArrowLeft", { ply: 1, step: 1 }, { ply: 1, step: 0 }],
    ["Home", { ply: 3, step: 2 }, { ply: 0, step: 0 }],
    ["End", { ply: 1, step: 0 }, { ply: 4, step: 0 }],
    ["x", { ply: 1, step: 0 }, undefined],
  ])("the key %s leads from the place %j to %j", (key, from, to) => {
    expect(placeByKey(key, from, 4, 3)).toEqual(to);
  });

  test("a place has a missed move only if another move was best", () => {
    expect(missedMove(explained[0])).toEqual({ from: "e2", to: "e4" });
    const best = create(MoveReviewSchema, { move: { uci: "e2e4" }, best: { move: { uci: "e2e4" } } });
    expect(missedMove(best)).toBeUndefined();
    expect(missedMove(undefined)).toBeUndefined();
  });
});

test.each([
  [9_450, "0:09.4"],
  [187_000, "3:07"],
  [3_909_000, "1:05:09"],
])("%i ms on a clock are written as %s", (ms, text) => {
  expect(clockText(ms)).toBe(text);
});
