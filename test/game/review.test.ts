import { describe, expect, test } from "vitest";
import { gameAccuracy, mean } from "../../src/game/accuracy.ts";
import type { Opening } from "../../src/game/find-opening.ts";
import { createReviewer, type GameReview } from "../../src/game/review.ts";
import { evaluate, gameOf, review, scoreOf } from "./games.ts";

type Evaluations = Parameters<typeof evaluate>[1];

function reviewOf(pgn: string, evaluations: Evaluations, opening?: Opening): GameReview {
  return review(gameOf(pgn), evaluations, opening);
}

const cps = (...scores: readonly number[]): Evaluations =>
  scores.map((score) => ({ score, lines: [["a2a3"]] }));

test("a review of a move contains the best move and the loss of the side that moved", () => {
  const [, e5] = reviewOf("1. e4 {[%clk 0:05:00]} e5 {[%clk 0:04:58.5]} 2. Nf3", [
    { score: 30 },
    {
      score: 20,
      lines: [["c7c5"], ["e7e6", 45], ["g8f6", 60]],
    },
    { score: 150 },
  ]).moves;
  expect(e5).toMatchObject({
    ply: 2,
    move: { san: "e5", uci: "e7e5" },
    evaluation: scoreOf(150),
    winPercent: 63.4672,
    centipawnLoss: 130,
    winPercentLoss: 11.627,
    accuracy: 60.0148,
    judgement: "mistake",
    comment: "(0.20 → 1.50) Mistake. c5 was best.",
    labels: [],
    phase: "opening",
    clockMs: 298_500,
    best: {
      move: { san: "c5" },
      score: scoreOf(20),
      moves: ["c7c5"],
      san: ["c5"],
      alternatives: [
        { rank: 2, move: { san: "e6" }, score: scoreOf(45) },
        { rank: 3, move: { san: "Nf6" }, score: scoreOf(60) },
      ],
    },
  });
});

test("a review assumes fifteen centipawns for the standard initial position only", () => {
  const standard = reviewOf("1. e4", cps(60, 15));
  expect(standard.startEvaluation).toBeUndefined();
  expect(standard.moves[0]).toMatchObject({ winPercent: 51.3804, centipawnLoss: 0, accuracy: 100 });
  const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
  const other = reviewOf(`[FEN "${fen}"]\n\n1... e5`, cps(60, 75));
  expect(other.startEvaluation).toEqual(scoreOf(60));
  expect(other.moves[0]).toMatchObject({ centipawnLoss: 15 });
  const shuffled = '[Variant "Chess960"]\n\n1. e4';
  expect(reviewOf(shuffled, cps(60, 75)).startEvaluation).toEqual(scoreOf(60));
});

test("a review of a move has the side to move and the phase of the position", () => {
  const [first, second] = reviewOf(
    '[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 57"]\n\n57... Kd7 58. e4',
    cps(0, 500, 480),
  ).moves;
  expect(first).toMatchObject({ ply: 1, centipawnLoss: 500, judgement: "blunder", phase: "endgame" });
  expect(second).toMatchObject({ ply: 2, centipawnLoss: 20, judgement: undefined });
});

test("a review never judges the engine's best move as bad", () => {
  const [, e5] = reviewOf("1. e4 e5", [{ score: 0 }, { score: 0 }, { score: 900 }]).moves;
  expect(e5).toMatchObject({
    judgement: undefined,
    comment: undefined,
    labels: ["best"],
    centipawnLoss: 900,
  });
});

test("a review judges a book move like any other move", () => {
  const opening = { eco: "A00", name: "x", ply: 2 };
  const { moves } = reviewOf("1. e4 e5 2. Nf3", cps(15, 15, 400, 400), opening);
  expect(moves.map(({ labels, judgement }) => [labels, judgement])).toEqual([
    [["book"], undefined],
    [["book"], "blunder"],
    [[], undefined],
  ]);
});

test.each([
  ["is labeled as the only good move if the second line is ten points worse", 200, 83, ["best", "only_move"]],
  [
    "is not labeled as the only good move if the second line is less than ten points worse",
    200,
    84,
    ["best"],
  ],
  ["is labeled as the only good move if the second line loses", 200, "#-3", ["best", "only_move"]],
  ["is not labeled as the only good move if the second line also mates", "#2", "#9", ["best"]],
] as const)("the best move of a review %s", (_, first, second, labels) => {
  const lines = [["e2e4", first] as const, ["d2d4", second] as const];
  expect(reviewOf("1. e4", [{ score: first, lines }]).moves[0]?.labels).toEqual(labels);
  const fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
  const turned = (score: number | `#${number}`) =>
    typeof score === "number" ? -score : (`#${-Number(score.slice(1))}` as const);
  const blacks = [["e7e5", turned(first)] as const, ["d7d5", turned(second)] as const];
  const whole = reviewOf(`[FEN "${fen}"]\n\n1... e5`, [{ score: turned(first), lines: blacks }]);
  expect(whole.moves[0]?.labels).toEqual(labels);
});

test("a review does not label the best move as the only good move if the first line begins with another move", () => {
  const lines = [["e2e4", 200] as const, ["d2d4", -900] as const];
  const labels = (best: string) => reviewOf("1. d4", [{ score: 200, lines, best }]).moves[0]?.labels;
  expect(labels("d2d4")).toEqual(["best"]);
});

test("a review labels the only legal move as forced", () => {
  const whole = reviewOf('[FEN "k7/8/8/8/8/8/1r6/K7 w - - 0 1"]\n\n1. Kxb2', [{ score: 0 }]);
  expect(whole.moves[0]?.labels).toEqual(["forced", "best"]);
});

test("the averages of a review do not include a move that gives mate", () => {
  const whole = reviewOf("1. f3 e5 2. g4 Qh4#", [
    { score: 15, lines: [["e2e4"]] },
    { score: -30, lines: [["e7e5"]] },
    { score: -60, lines: [["g1h3"]] },
    { score: "#-1" },
  ]);
  expect(whole.moves[2]).toMatchObject({
    judgement: "blunder",
    comment: "(-0.60 → Mate in 1) Checkmate is now unavoidable. Nh3 was best.",
    winPercent: 2.4553,
    centipawnLoss: 940,
  });
  expect(whole.moves[3]).toMatchObject({
    evaluation: { value: { kind: "mate", mate: 0 } },
    winPercent: 2.4553,
    centipawnLoss: 0,
    winPercentLoss: 0,
    accuracy: 100,
    judgement: undefined,
  });
  // Only Black's move 1... e5 is counted, and the move lost nothing.
  expect(whole.players.black).toMatchObject({ accuracy: 100, averageCentipawnLoss: 0 });
  expect(whole.players.white).toMatchObject({
    averageCentipawnLoss: Math.round((45 + 940) / 2),
    blunders: 1,
  });
});

test("a review judges a stalemate after a forced mate as a lost mate", () => {
  const whole = reviewOf('[FEN "7k/8/8/6Q1/8/8/8/K7 w - - 0 1"]\n\n1. Qg6', [
    { score: "#4", lines: [["a1b2"]] },
  ]);
  expect(whole.moves[0]).toMatchObject({
    judgement: "blunder",
    comment: "(Mate in 4 → 0.00) Lost forced checkmate sequence. Kb2 was best.",
    winPercent: 50,
  });
});

test("a review has no best move for moves that were played after an automatic draw", () => {
  const whole = reviewOf('[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. Kd2 Kd7', []);
  expect(whole.moves.map(({ best, labels }) => [best, labels])).toEqual([
    [undefined, []],
    [undefined, []],
  ]);
});

test("a review shows twelve plies of a line, or only the best move if no line begins with the best move", () => {
  const game = gameOf("1. d4");
  const [start, end] = evaluate(game, [{ score: 0, lines: [["e2e4"], ["d2d4"]] }]);
  if (!start || !end) {
    expect.fail("a position is missing");
  }
  const long = Array.from({ length: 20 }, () => "x");
  const lines = [
    { score: scoreOf(20), moves: ["e2e4", ...long], san: ["e4", ...long] },
    ...start.lines.slice(1),
  ];
  const reviewer = createReviewer(game, undefined);
  expect(reviewer.move(0, { ...start, lines }, end).best?.san).toEqual(["e4", ...long.slice(0, 11)]);
  const beyond = reviewer.move(0, { ...start, lines: lines.slice(1) }, end).best;
  expect(beyond).toMatchObject({ moves: ["e2e4"], san: ["e4"], score: start.score });
  expect(beyond?.alternatives).toMatchObject([{ rank: 1, move: { san: "d4" } }]);
});

test("a review computes the phase of each position only when it reviews the move", () => {
  const game = gameOf("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7");
  let reads = 0;
  const positions = game.positions.map((position) => ({
    ...position,
    get fen() {
      reads++;
      return position.fen;
    },
  }));
  const reviewer = createReviewer({ ...game, positions }, undefined);
  const [before, after] = evaluate(game, cps(20, 30, 20, 30, 20, 30, 20, 30, 20, 30, 20));
  if (!before || !after) {
    expect.fail("a position is missing");
  }
  reviewer.move(0, before, after);
  expect(reads).toBeLessThan(positions.length);
});

describe("the review of a game", () => {
  const pgn = "1. e4 e5 2. Ke2 Ke7 3. Kd3 Kd6";
  const evaluations = cps(15, 30, 20, -60, 40, -130, 300);

  test("a review of a game has the accuracy, the loss and the number of judgments for each color", () => {
    const { players, method } = reviewOf(pgn, evaluations);
    expect(method).toBe("lichess-2026");
    const accuracy = gameAccuracy(
      evaluations.map(({ score }) => Number(score)),
      "white",
    );
    const counts = { inaccuracies: 1, mistakes: 0, blunders: 1 };
    expect(players.white).toMatchObject({ averageCentipawnLoss: 83, ...counts });
    expect(players.white.accuracy).toBeCloseTo(accuracy?.white ?? 0, 4);
    expect(players.black).toMatchObject({ averageCentipawnLoss: 177, ...counts });
    expect(players.black.accuracy).toBeCloseTo(accuracy?.black ?? 0, 4);
  });

  test("a review of a game has the averages of each phase", () => {
    const endgame = "4k3/8/8/8/8/8/4P3/RNB1K3 w Q - 0 1";
    const { players, moves } = reviewOf(`[FEN "${endgame}"]\n\n1. e4 Kd7 2. Ke2 Kc7 3. Kd3 Kb7`, evaluations);
    const accuracies = moves.filter(({ ply }) => ply % 2 === 1).map(({ accuracy }) => accuracy);
    expect(players.white.phases.endgame?.accuracy).toBeCloseTo(mean(accuracies) ?? 0, 4);
    expect(players.white.phases).toMatchObject({
      opening: undefined,
      middlegame: undefined,
      endgame: { averageCentipawnLoss: 83, inaccuracies: 1, mistakes: 0, blunders: 1 },
    });
  });

  test("a review of a game has an accuracy only if both sides have moved, and a loss only for a side that has moved", () => {
    const { players } = reviewOf("1. e4", cps(15, 15));
    expect(players.white).toMatchObject({ accuracy: undefined, averageCentipawnLoss: 0 });
    expect(players.black).toMatchObject({ accuracy: undefined, averageCentipawnLoss: undefined });
  });

  test("equal evaluations give an equal review", () => {
    expect(JSON.stringify(reviewOf(pgn, evaluations))).toBe(JSON.stringify(reviewOf(pgn, evaluations)));
  });

  test("a review of a game throws if a move or a position is missing", () => {
    const game = gameOf(pgn);
    const evaluated = evaluate(game, evaluations);
    const { moves } = reviewOf(pgn, evaluations);
    const reviewer = createReviewer(game, undefined);
    expect(() => reviewer.game(moves.slice(1), evaluated)).toThrow(RangeError);
    expect(() => reviewer.game(moves, evaluated.slice(1))).toThrow(RangeError);
    expect(reviewer.game(moves, evaluated).moves).toBe(moves);
  });
});

describe("positions that endgame tables know", () => {
  const game = '[FEN "8/8/8/3k4/4R3/8/8/K7 w - - 0 1"]\n\n1. Ka2 Kd6';
  const best = [["e4e1"]] as const;
  const white = { winner: "white" } as const;
  const drawn = { winner: undefined };

  test("a move is judged by the results before and after it, whatever the scores are", () => {
    const { moves, players } = reviewOf(game, [
      { score: 0, lines: best, tablebase: white },
      { score: "#7", lines: [["d5e4"]], tablebase: drawn },
      { score: -300, lines: best, tablebase: white },
    ]);
    expect(moves).toMatchObject([
      {
        judgement: "blunder",
        centipawnLoss: 1000,
        winPercent: 50,
        evaluation: scoreOf("#7"),
        comment: "(10.00 → 0.00) Blunder. Re1 was best.",
      },
      { judgement: "blunder", centipawnLoss: 1000, winPercent: 97.5447, evaluation: scoreOf(-300) },
    ]);
    expect(players).toMatchObject({ white: { averageCentipawnLoss: 1000 }, black: { blunders: 1 } });
  });

  test("a best move of the tables is no line of the engine, and the move that it replaces is no alternative", () => {
    const lines = [["a1a2"], ["e4h4", 400], ["e4e1", 300]] as const;
    const bestOf = (count: number, best: string) => {
      const before = { score: 500, lines: lines.slice(0, count), best, tablebase: white };
      const [move] = reviewOf(game, [before, { tablebase: drawn, score: 0 }, { score: 0 }]).moves;
      return { best: move?.best?.moves, others: move?.best?.alternatives.map(({ rank }) => rank) };
    };
    expect(bestOf(1, "e4e1")).toEqual({ best: ["e4e1"], others: [] });
    expect(bestOf(2, "e4e1")).toEqual({ best: ["e4e1"], others: [2] });
    expect(bestOf(3, "e4h4")).toEqual({ best: ["e4h4"], others: [3] });
  });

  test("a move from a mate that the engine sees to a win that the tables know is not judged", () => {
    const [move] = reviewOf(game, [
      { score: "#9", lines: best },
      { score: 40, lines: [["d5e4"]], tablebase: white },
      { score: 40, lines: best, tablebase: white },
    ]).moves;
    expect(move).toMatchObject({ judgement: undefined, centipawnLoss: 0, accuracy: 100 });
  });

  test("a move from a mate that the engine sees to a draw that the tables know loses the mate", () => {
    const [move] = reviewOf(game, [
      { score: "#9", lines: best },
      { score: 800, lines: [["d5e4"]], tablebase: drawn },
      { score: 800, lines: best, tablebase: drawn },
    ]).moves;
    expect(move).toMatchObject({ judgement: "blunder", centipawnLoss: 1000 });
  });
});
