import { expect, test } from "vitest";
import { readPosition } from "../../../src/cli/uci/read-position.ts";

const corners = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
const read = (...asked: Parameters<typeof readPosition>) => {
  const reading = readPosition(...asked);
  return reading.kind === "position" ? reading : expect.fail(reading.notes.join("\n"));
};

test("a UCI position castles in the notation of the option", () => {
  for (const move of ["e1g1", "e1h1", "O-O"]) {
    expect(read(corners, [move], false).position.moves).toEqual(["e1g1"]);
    expect(read(corners, [move], true).position.moves).toEqual(["e1h1"]);
  }
});

test("a UCI position that is Chess960 by its FEN alone is reported as such", () => {
  const shredder = corners.replace("KQkq", "HAha");
  expect(read(shredder, ["e1h1"], false).notes).toEqual([
    "the FEN is one of Chess960, so castling is written as king takes rook, as with UCI_Chess960",
  ]);
  expect(read(shredder, ["e1h1"], true).notes).toEqual([]);
});

test("a UCI position that was fixed says how, and no warning is repeated with every move", () => {
  expect(read("4k3/8/8/8/8/8/8/4K2R w KQ - 0 1", [], false).notes).toEqual([
    expect.stringMatching(/castling/i),
  ]);
  expect(read("4k3/8/8/8/8/8/8/4K2R w K - 120 90", [], false).notes).toEqual([]);
});

test.each([
  ["not a FEN", [], /FEN/],
  ["8/8/8/8/8/8/8/8 w - - 0 1", [], /White has no king\./],
  ["startpos", ["e2e4", "e2e4"], /'e2e4' is not a legal move for Black \(moves\[1\], in the position /],
  ["", [], /./],
])("the UCI position %s %s is refused with the reason", (fen, moves, why) => {
  const reading = readPosition(fen, moves, false);
  expect(reading.kind).toBe("refused");
  expect(reading.notes.join("\n")).toMatch(why);
});
