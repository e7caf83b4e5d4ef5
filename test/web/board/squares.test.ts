import { expect, test } from "vitest";
import { middleOf, piecesOf, squareByKey, squaresSeen } from "../../../web/src/board/squares.ts";

test("the top left square of the board is a8 for White and h1 for Black", () => {
  expect(squaresSeen("white").at(0)?.at(0)).toBe("a8");
  expect(squaresSeen("black").at(0)?.at(0)).toBe("h1");
});

test.each([
  ["ArrowUp", "e2", "white", "e3"],
  ["ArrowUp", "e2", "black", "e1"],
  ["ArrowLeft", "e2", "white", "d2"],
  ["ArrowLeft", "e2", "black", "f2"],
  ["ArrowLeft", "a2", "white", "a2"],
  ["End", "b2", "white", "h2"],
  ["PageUp", "b2", "white", "b8"],
  ["x", "e2", "white", undefined],
] as const)("the key %s moves the cursor from %s, seen by %s, to %s", (key, from, orientation, to) => {
  expect(squareByKey(key, from, orientation)).toBe(to);
});

test("the board finds the pieces of a FEN, and no pieces in an invalid FEN", () => {
  expect([...piecesOf("8/8/8/3k4/8/8/8/K7 w - - 0 1")]).toEqual([
    ["d5", { role: "king", color: "black", promoted: false }],
    ["a1", { role: "king", color: "white", promoted: false }],
  ]);
  expect(piecesOf("nonsense").size).toBe(0);
});

test("the board finds the centre of a square from either side", () => {
  expect(middleOf("a8", "white")).toEqual([0.5, 0.5]);
  expect(middleOf("a8", "black")).toEqual([7.5, 7.5]);
});
