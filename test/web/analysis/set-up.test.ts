import { expect, test } from "vitest";
import {
  chess960SetUp,
  emptySetUp,
  enPassantSquares,
  fenOfSetUp,
  setUpFromFen,
  startSetUp,
} from "../../../web/src/analysis/set-up.ts";

test.each([
  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
  "4k3/8/8/8/8/8/8/4K2R b K - 0 1",
  "1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1",
  "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
])("an editor of positions changes nothing of %s", (fen) => {
  expect(fenOfSetUp(setUpFromFen(fen))).toBe(fen);
});

test("an editor of positions knows which side a rook of Chess960 castles on", () => {
  expect(setUpFromFen("1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1").rights).toEqual({
    K: "H",
    Q: "B",
    k: "h",
    q: "b",
  });
});

test("an editor of positions begins with the start position or an empty board", () => {
  expect(fenOfSetUp(startSetUp)).toBe("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
  expect(fenOfSetUp(emptySetUp)).toBe("8/8/8/8/8/8/8/8 w - - 0 1");
});

test.each([
  [0, "BBQNNRKR"],
  [518, "RNBQKBNR"],
  [959, "RKRNNQBB"],
])("an editor of positions knows start position %i of Chess960", (number, rank) => {
  const black = rank.toLowerCase();
  expect(chess960SetUp(number).board).toBe(`${black}/pppppppp/8/8/8/8/PPPPPPPP/${rank}`);
});

test("an editor of positions knows 960 start positions of Chess960", () => {
  const boards = Array.from({ length: 960 }, (_, number) => chess960SetUp(number).board);
  expect(new Set(boards).size).toBe(960);
});

test("an editor of positions offers en passant behind pawns that may just have gone two steps", () => {
  const board = "4k3/8/8/pP1pP3/1P5p/8/8/4K3";
  expect(enPassantSquares({ ...emptySetUp, board })).toEqual(["a6", "d6"]);
  expect(enPassantSquares({ ...emptySetUp, board, turn: "black" })).toEqual(["b3"]);
});
