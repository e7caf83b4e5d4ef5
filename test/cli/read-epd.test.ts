import { expect, test } from "vitest";
import { illegalOperandOf, isSolved, positionFromLine } from "../../src/cli/read-epd.ts";

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
  [`${board} w - - 0 1 ;D1 20 ;D2 400 ;D3 8902`, `${board} w - - 0 1`],
  [`${board} w - - 0 1; bm e4`, `${board} w - - 0 1`],
  [`${board} w - -; bm e4;`, `${board} w - -`],
  [`${board} w - -;bm e4;`, `${board} w - -`],
  [`${board} w - - ; ; bm e4;`, `${board} w - -`],
  [`${board} w - - 0 1;`, `${board} w - - 0 1`],
  [`${board} w - - 0 1;bm e4`, `${board} w - - 0 1`],
  [`${board} w - -; hmvc 7; fmvn 12;`, `${board} w - - 7 12`],
  [`${board} w - - 0 1; # a comment`, `${board} w - - 0 1`],
  [`${board} w - - 0 1x`, `${board} w - - 0 1x`],
])("the EPD line %j has the FEN %j", (line, fen) => {
  expect(positionFromLine(line)?.fen).toBe(fen);
});

test.each(["", "   ", "# a comment"])("the EPD line %j has no position", (line) => {
  expect(positionFromLine(line)).toBeUndefined();
});

test("the operations of an EPD line are read, even if a quoted text contains a semicolon", () => {
  expect(positionFromLine(`${board} w - - bm Nf3 e4; am Qxb7; c0 "a; b"; id "WAC; 7";`)).toEqual({
    fen: `${board} w - -`,
    id: "WAC; 7",
    best: ["Nf3", "e4"],
    avoid: ["Qxb7"],
  });
});

test("the operations of an EPD line are read after a FEN with a semicolon", () => {
  const read = { fen: `${board} w - - 0 1`, id: "7", best: ["e4"], avoid: [] };
  expect(positionFromLine(`${board} w - - 0 1; bm e4; id "7"`)).toEqual(read);
});

test.each([
  ["w", "bm #1;", 1, true],
  ["w", "bm #2;", 1, true],
  ["w", "bm #1;", 2, false],
  ["w", "bm #1;", -1, false],
  ["w", "bm #1;", 0, false],
  ["w", "bm #1;", undefined, false],
  ["b", "bm #3;", -3, true],
  ["b", "bm #3;", 3, false],
  ["b", "bm #3;", -4, false],
  ["w", "bm Ra2 #2;", 2, true],
  ["w", "bm Ra8 #2;", undefined, true],
  ["w", "bm #+2!!;", 2, true],
  ["w", "bm M2;", 2, true],
  ["w", "bm +M2;", 3, false],
  ["w", "dm 2;", 2, true],
  ["w", "dm 2;", 3, false],
  ["w", "bm Ra7; dm 2;", 2, false],
  ["w", "am #2;", 2, false],
  ["w", "am #2;", 3, true],
])(
  "with %s to move and the operations %s, a mate score of %s solves the position: %s",
  (turn, operations, mate, solved) => {
    const position = positionFromLine(`r5k1/5ppp/8/8/8/8/5PPP/R5K1 ${turn} - - ${operations}`);
    expect(isSolved(position ?? expect.fail(), { uci: "a1a8", mate })).toBe(solved);
  },
);

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
])("the move Ra8# solves the position with the operations %s, in any spelling: %s", (operations, solved) => {
  const position = positionFromLine(`6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - ${operations}`) ?? expect.fail();
  expect(isSolved(position, { uci: "a1a8", mate: 1 })).toBe(solved);
});

test.each([
  ["bm 0-0;", "e1g1"],
  ["bm rh3;", "h1h3"],
  ["bm E1G1;", "e1g1"],
  ["bm a8Q;", "a7a8q"],
])("the position with the operations %s is solved by %s", (operations, found) => {
  const position = positionFromLine(`4k3/P7/8/8/8/8/8/R3K2R w KQ - ${operations}`) ?? expect.fail();
  expect(isSolved(position, { uci: found, mate: undefined })).toBe(true);
});

test.each([
  ["bm Qh5;", "Qh5"],
  ["bm 1;", "1"],
  ["bm Rd1 Re9;", "Re9"],
  ["am Kh3;", "Kh3"],
  ["bm Rd1; bm Qh5;", "Qh5"],
  ["bm Rd1 re1!? a3;", undefined],
  ["dm 3;", undefined],
  ["bm #1;", undefined],
])("the first illegal move in the operations %s is %s", (operations, illegal) => {
  const line = positionFromLine(`${board} w - - ${operations}`);
  expect(line && illegalOperandOf(line)).toBe(illegal);
});

test("the moves of an operation that is written twice are all read", () => {
  expect(positionFromLine(`${board} w - - bm Rd1; bm Re1;`)?.best).toEqual(["Rd1", "Re1"]);
});
