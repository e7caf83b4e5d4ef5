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

describe("numbers of moves", () => {
  test("count both sides", () => {
    expect([1, 2, 3].map((ply) => moveNumber(INITIAL_FEN, ply))).toEqual(["1.", "1…", "2."]);
  });

  test("go on from the position where Black begins", () => {
    expect([1, 2].map((ply) => moveNumber(blackFirst, ply))).toEqual(["12…", "13."]);
    expect(moveRows(blackFirst, 2)).toEqual([
      { number: 12, white: undefined, black: 1 },
      { number: 13, white: 2, black: undefined },
    ]);
  });
});

describe("a game that the page plays itself", () => {
  test("has its moves in proper SAN, and the positions behind them", () => {
    expect(foolsMate.moves.map(({ san }) => san)).toEqual(["f3", "e5", "g4", "Qh4#"]);
    expect(foolsMate.moves.at(-1)).toMatchObject({ from: "d8", to: "h4" });
    expect(foolsMate.moves.at(-1)?.fen).toMatch(/^rnb1kbnr\/pppp1ppp/);
  });

  test("ends at the first move that is not legal", () => {
    expect(playedGame("1. e4 e5 2. Ke3 Nf6")).toMatchObject({ moves: [{}, {}], isWhole: false });
    expect(foolsMate.isWhole).toBe(true);
  });

  test("has no moves where its position is none", () => {
    expect(playedGame('[FEN "nonsense"]\n\n1. e4').moves).toEqual([]);
    expect(playedGame("").moves).toEqual([]);
  });

  test("begins with its FEN, in Chess960, too", () => {
    const fen = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1";
    const { startFen, moves } = playedGame(`[Variant "Chess960"]\n[FEN "${fen}"]\n\n1. f3 f6 2. Nf2`);
    expect(startFen.split(" ")[0]).toBe(fen.split(" ")[0]);
    expect(moves).toHaveLength(3);
  });

  test("is what the service says, as far as that has come", () => {
    const { moves } = withExplained(foolsMate, undefined, explained.slice(0, 1));
    expect(moves.map(({ fen }) => fen.startsWith("fen"))).toEqual([true, false, false, false]);
    const review = create(GameReviewSchema, { startFen: blackFirst, tags: { White: "A" } });
    expect(withExplained(foolsMate, review, [])).toMatchObject({ startFen: blackFirst });
  });
});

describe("the course of a game", () => {
  test("begins with what is assumed of the standard start, else with what was found", () => {
    expect(startPercent(INITIAL_FEN, undefined)).toBeCloseTo(51.38, 2);
    expect(startPercent(INITIAL_FEN.replace("0 1", "0 5"), undefined)).toBeCloseTo(51.38, 2);
    expect(startPercent(blackFirst, undefined)).toBeUndefined();
    expect(startPercent(blackFirst, mate(-3))).toBeCloseTo(2.4553, 4);
    expect(startPercent(blackFirst, cp(0))).toBe(50);
  });

  test("has a point for each ply, judged ones with a mark and a word", () => {
    const points = courseOf(INITIAL_FEN, explained, 51);
    expect(points.map(({ x, y, mark }) => [x, y, mark])).toEqual([
      [0, 51, undefined],
      [1, 49, "ring"],
      [2, 48, undefined],
      [3, 47, "diamond"],
    ]);
    expect(points[3]?.words).toBe("2. f3, blunder, White’s chances 47%");
  });

  test("has no point for a start that nobody evaluated", () => {
    expect(courseOf(blackFirst, explained, undefined).map(({ x }) => x)).toEqual([1, 2, 3]);
  });

  test("has phases as bands, from the position before their first move", () => {
    expect(bandsOf(explained)).toEqual([
      { name: "Opening", from: 0, to: 2 },
      { name: "Middlegame", from: 2, to: 3 },
    ]);
  });
});

describe("judgements", () => {
  test("have a sign, and none where there is nothing to blame", () => {
    expect(explained.map((move) => judgedOf(move)?.sign)).toEqual(["?!", undefined, "??"]);
    expect(judgedOf(undefined)).toBeUndefined();
  });

  test("are found before and behind a ply", () => {
    expect(nextJudged(explained, 1, "behind")).toBe(3);
    expect(nextJudged(explained, 3, "before")).toBe(1);
    expect(nextJudged(explained, 3, "behind")).toBeUndefined();
    expect(nextJudged(explained, 1, "before")).toBeUndefined();
  });

  test("stand beside labels, of which unknown ones are left out", () => {
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
])("says a score, %#: %2$s", (score, words) => {
  expect(scoreWords(score)).toBe(words);
});

describe("places in a game", () => {
  test("have the position and the move that led there", () => {
    expect(positionAt(foolsMate, [], { ply: 0, step: 0 })).toEqual({ fen: INITIAL_FEN, move: undefined });
    expect(positionAt(foolsMate, [], { ply: 4, step: 0 }).move).toMatchObject({ from: "d8", to: "h4" });
  });

  test("are also in the line that would have been best", () => {
    const { fen, move } = positionAt(foolsMate, explained, { ply: 1, step: 2 });
    expect(fen).toMatch(/^rnbqkbnr\/pppp1ppp\/8\/4p3\/4P3\//);
    expect(move).toEqual({ from: "e7", to: "e5" });
  });

  test("are led to by moves", () => {
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
  ])("are left by %s from %j to %j", (key, from, to) => {
    expect(placeByKey(key, from, 4, 3)).toEqual(to);
  });

  test("have a missed move only where another one was best", () => {
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
])("writes %i ms on a clock as %s", (ms, text) => {
  expect(clockText(ms)).toBe(text);
});
