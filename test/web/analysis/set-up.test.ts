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
])("the editor keeps the FEN %s unchanged", (fen) => {
  expect(fenOfSetUp(setUpFromFen(fen))).toBe(fen);
});

test("the editor finds the castling side of each rook in Chess960", () => {
  expect(setUpFromFen("1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1").rights).toEqual({
    K: "H",
    Q: "B",
    k: "h",
    q: "b",
  });
});

test("the editor can begin with the start position or with an empty board", () => {
  expect(fenOfSetUp(startSetUp)).toBe("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
  expect(fenOfSetUp(emptySetUp)).toBe("8/8/8/8/8/8/8/8 w - - 0 1");
});

test.each([
  [0, "BBQNNRKR"],
  [518, "RNBQKBNR"],
  [959, "RKRNNQBB"],
])("the editor builds start position %i of Chess960", (number, rank) => {
  const black = rank.toLowerCase();
  expect(chess960SetUp(number).board).toBe(`${black}/pppppppp/8/8/8/8/PPPPPPPP/${rank}`);
});

test("the editor builds 960 different start positions of Chess960", () => {
  const boards = Array.from({ length: 960 }, (_, number) => chess960SetUp(number).board);
  expect(new Set(boards).size).toBe(960);
});

test("the editor offers en passant behind pawns that may just have moved two squares", () => {
  const board = "4k3/8/8/pP1pP3/1P5p/8/8/4K3";
  expect(enPassantSquares({ ...emptySetUp, board })).toEqual(["a6", "d6"]);
  expect(enPassantSquares({ ...emptySetUp, board, turn: "black" })).toEqual(["b3"]);
});
