import { expect, test } from "vitest";
import { commentTexts, mainlineOf, nodeOf, resultOf } from "../../../web/src/game/game.ts";
import { gameFromPgn, mainlinePgn, pgnOfGame } from "../../../web/src/game/pgn.ts";

function gameOf(pgn: string) {
  const reading = gameFromPgn(pgn);
  if (reading.kind === "violations") {
    throw new Error(reading.violations[0]?.message);
  }
  return reading.game;
}

const annotated = `[White "Morphy"]
[Black "Isouard"]
[Result "1-0"]

{ Paris } 1. e4 $1 { BEST BY TEST } { [%clk 0:03:00] } ( { or } 1. d4 d5 ( 1... Nf6 $6 ) 2. c4 ) 1... e5 2. Nf3 1-0
`;

test("the comments, glyphs, variations, clocks and tags of a PGN stay the same after reading and writing", () => {
  const game = gameOf(annotated);
  const e4 = nodeOf(game, "e2e4");
  expect(game.start.comments).toEqual(["Paris"]);
  expect(e4).toMatchObject({ nags: [1], ply: 1 });
  expect(commentTexts(e4.comments)).toEqual(["BEST BY TEST"]);
  expect(nodeOf(game, "d2d4").startingComments).toEqual(["or"]);
  expect(nodeOf(game, "d2d4 g8f6").nags).toEqual([6]);
  expect(game.tags.get("Black")).toBe("Isouard");
  const again = gameOf(pgnOfGame(game));
  expect(pgnOfGame(again)).toBe(pgnOfGame(game));
  expect(pgnOfGame(game).replaceAll(/\s+/g, " ")).toContain(
    "{ Paris } 1. e4 $1 { BEST BY TEST } { [%clk 0:03:00] } ( { or } 1. d4 d5 ( 1... Nf6 $6 ) 2. c4 ) 1... e5 2. Nf3 1-0",
  );
});

test("the main line of a game is written without comments and variations", () => {
  expect(mainlinePgn(gameOf(annotated)).trim().split("\n").at(-1)).toBe("1. e4 e5 2. Nf3 1-0");
});

test("a game without tags is written without tags", () => {
  expect(pgnOfGame(gameOf("1. f3 e5 2. g4 Qh4#"))).toBe("1. f3 e5 2. g4 Qh4# 0-1\n");
});

test("a game from a FEN is written with the FEN, also in Chess960", () => {
  const pgn = '[Variant "Chess960"]\n[FEN "1rk4r/8/8/8/8/8/8/1RK4R b HBhb - 0 7"]\n[SetUp "1"]\n\n7... O-O *';
  const game = gameOf(pgn);
  expect(game.start.position.chess960).toBe(true);
  expect(pgnOfGame(game)).toContain('[FEN "1rk4r/8/8/8/8/8/8/1RK4R b HBhb - 0 7"]');
  expect(pgnOfGame(game)).toContain("7... O-O *");
  expect(mainlineOf(gameOf(pgnOfGame(game)))).toHaveLength(2);
});

test.each([
  ["1. f3 e5 2. g4 Qh4# 0-1", "0-1"],
  ["1. e4 e5 1/2-1/2", "1/2-1/2"],
  ["1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#", "1-0"],
  ['[Result "*"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# *', "1-0"],
  ['[Result "0-1"]\n\n1. e4 *', "*"],
  ['[Result "0-1"]\n\n1. e4', "0-1"],
  ["1. e4", "*"],
])("the result of %j is %s", (pgn, result) => {
  expect(resultOf(gameOf(pgn))).toBe(result);
});

test("a variation ends before an illegal move, with a warning, and the main line stays complete", () => {
  const game = gameOf("1. e4 e5 (1... c5 2. Ke3 Nc6) 2. Nf3 (2. bc4) (2. -- d5) *");
  expect(mainlineOf(game)).toHaveLength(4);
  expect(nodeOf(game, "e2e4 c7c5").children).toEqual([]);
  expect(game.warnings.map(({ message }) => message)).toEqual([
    "A variation was cut before '--', which is not a legal move there.",
    "A variation was cut before 'Ke3', which is not a legal move there.",
  ]);
});

test("two variations with the same moves are merged, with the comments of both variations", () => {
  const game = gameOf("1. e4 {a} (1. d4 d5 {b}) (1. d4 {c} d5 {d} 2. c4) *");
  expect(game.start.children).toHaveLength(2);
  expect(nodeOf(game, "d2d4").comments).toEqual(["c"]);
  expect(nodeOf(game, "d2d4 d7d5")).toMatchObject({ comments: ["b", "d"], children: [{ ply: 3 }] });
});

test("an illegal move in the main line is reported as a violation with line and column", () => {
  expect(gameFromPgn("1. e4 e5\n2. Ke3 *")).toMatchObject({
    kind: "violations",
    violations: [{ code: "illegal_move", place: { ply: 3, token: "Ke3", offset: 12, line: 2, column: 4 } }],
  });
});
