import { expect, test } from "vitest";
import { middleOf, piecesOf, squareByKey, squaresSeen } from "../../../web/src/board/squares.ts";

test("the top left square of the board is a8 for White and h1 for Black", () => {
  expect(squaresSeen("white").at(0)?.at(0)).toBe("a8");
  expect(squaresSeen("black").at(0)?.at(0)).toBe("h1");
});

test.each([
  ["white", "ArrowUp", "e2", "e3"],
  ["black", "ArrowUp", "e2", "e1"],
  ["white", "ArrowLeft", "e2", "d2"],
  ["black", "ArrowLeft", "e2", "f2"],
  ["white", "ArrowLeft", "a2", "a2"],
  ["white", "End", "b2", "h2"],
  ["white", "PageUp", "b2", "b8"],
  ["white", "x", "e2", undefined],
] as const)(
  "with %s at the bottom of the board, the key %s moves the cursor from %s to %s",
  (orientation, key, from, to) => {
    expect(squareByKey(key, from, orientation)).toBe(to);
  },
);

test("the board finds the pieces of a FEN, and no pieces in an invalid FEN", () => {
  expect([...piecesOf("8/8/8/3k4/8/8/8/K7 w - - 0 1")]).toEqual([
    ["d5", { role: "king", color: "black", promoted: false }],
    ["a1", { role: "king", color: "white", promoted: false }],
  ]);
  expect(piecesOf("nonsense").size).toBe(0);
});

test("the board finds the centre of a square when White is at the bottom, and when Black is at the bottom", () => {
  expect(middleOf("a8", "white")).toEqual([0.5, 0.5]);
  expect(middleOf("a8", "black")).toEqual([7.5, 7.5]);
});
