import { expect, test } from "vitest";
import { isSolved, positionFromLine } from "../../src/cli/read-epd.ts";

const board = "r1b2rk1/pp3ppp/8/8/8/8/PP3PPP/R1B2RK1";

test.each([
  [`${board} w - - 0 1`, `${board} w - - 0 1`],
  [`  ${board} b - -  `, `${board} b - -`],
  [`${board} w - - bm Nf3;`, `${board} w - -`],
  [`${board} w - - 3 17 bm Nf3; id "x";`, `${board} w - - 3 17`],
  ["startpos", "startpos"],
  [`${board} w - - 0 1 7`, `${board} w - - 0 1 7`],
  [`${board} w - - x 1`, `${board} w - -`],
  [`${board} w - - bm Nf3; hmvc 149; fmvn 90;`, `${board} w - - 149 90`],
  [`${board} w - - hmvc 7;`, `${board} w - - 7 1`],
  [`${board} w - - 3 17 hmvc 7;`, `${board} w - - 3 17`],
])("the line %j of EPD has the FEN %j", (line, fen) => {
  expect(positionFromLine(line)?.fen).toBe(fen);
});

test.each(["", "   ", "# a comment"])("the line %j has no position", (line) => {
  expect(positionFromLine(line)).toBeUndefined();
});

test("a line of EPD keeps its operations, also with a semicolon between quotes", () => {
  expect(positionFromLine(`${board} w - - bm Nf3 e4; am Qxb7; c0 "a; b"; id "WAC; 7";`)).toEqual({
    fen: `${board} w - -`,
    id: "WAC; 7",
    best: ["Nf3", "e4"],
    avoid: ["Qxb7"],
  });
});

test.each([
  ["bm Ra8#;", true],
  ["bm Ra8;", true],
  ["bm Raa8;", true],
  ["bm Ra1-a8;", true],
  ["bm a1a8;", true],
  ["bm Ra8#, Ra7;", true],
  ["bm Ra8!!;", true],
  ["bm Ra7;", false],
  ["bm Rb8;", false],
  ["am Ra7, Rb8;", true],
  ["am Raa8;", false],
  ["bm Ra8; am Ra1-a8;", false],
  ['id "nothing asked";', undefined],
])("the position %s is solved by Ra8#, however the move is spelt: %s", (operations, solved) => {
  const position = positionFromLine(`6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - ${operations}`) ?? expect.fail();
  expect(isSolved(position, "a1a8")).toBe(solved);
});

test.each([
  ["bm 0-0;", "e1g1"],
  ["bm a8Q;", "a7a8q"],
])("the position %s is solved by %s", (operations, found) => {
  const position = positionFromLine(`4k3/P7/8/8/8/8/8/R3K2R w KQ - ${operations}`) ?? expect.fail();
  expect(isSolved(position, found)).toBe(true);
});
