import { expect, test } from "vitest";
import { drawBoard } from "../../../src/cli/review/draw-board.ts";
import { drawGraph } from "../../../src/cli/review/draw-graph.ts";
import { columnsOf, wrapped } from "../../../src/cli/style.ts";

test("the width of printed lines comes from COLUMNS or from the terminal, and is unlimited otherwise", () => {
  const stdout = { fd: 1, write() {}, once() {} };
  const terminal = { ...stdout, isTTY: true, columns: 132 };
  expect(columnsOf({ env: {}, stdout: terminal })).toBe(132);
  expect(columnsOf({ env: { COLUMNS: "60" }, stdout: terminal })).toBe(60);
  expect(columnsOf({ env: { COLUMNS: "60" }, stdout })).toBe(60);
  expect(columnsOf({ env: { COLUMNS: "wide" }, stdout })).toBeUndefined();
});

const fen = "r3k2r/8/8/8/8/8/6P1/R3K2R w KQkq - 0 1";
const move = { played: { from: "e1", to: "g1" }, best: { from: "a1", to: "a8" } };

test("a board is printed from the point of view of the side to move, and both squares of the move are marked", () => {
  expect(drawBoard({ fen, side: "white", ...move })).toEqual([
    "8 [r] ·     ·  k  ·     r",
    "7  ·     ·     ·     ·",
    "6     ·     ·     ·     ·",
    "5  ·     ·     ·     ·",
    "4     ·     ·     ·     ·",
    "3  ·     ·     ·     ·",
    "2     ·     ·     ·  P  ·",
    "1 [R]    ·    (K)   (·) R",
    "   a  b  c  d  e  f  g  h",
  ]);
  const black = drawBoard({ fen, side: "black", ...move });
  expect([black[0], black[7], black[8]]).toEqual([
    "1  R (·)   (K)    ·    [R]",
    "8  r     ·  k  ·     · [r]",
    "   h  g  f  e  d  c  b  a",
  ]);
});

const course = (count: number, percent: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => percent(index));

test("a graph shows White's win chances upwards, and is narrower for a short game", () => {
  const lines = drawGraph(
    {
      percents: [50, 100, 0],
      marked: [2],
      parts: [
        { name: "opening", at: 0 },
        { name: "endgame", at: 2 },
      ],
    },
    80,
  );
  expect(lines).toEqual([
    " White ┤    ████",
    "       ┤    ████",
    "  50 % ┤    ████",
    "       ┤████████",
    "       ┤████████",
    " Black ┤████████",
    `${" ".repeat(16)}↑`,
    "        ╵opening╵endgame",
  ]);
});

test("the graph of a game of any length is at most as wide as the terminal", () => {
  for (const count of [1, 30, 600]) {
    const widths = drawGraph({ percents: course(count, () => 100), marked: [], parts: [] }, 40).map(
      (line) => line.length,
    );
    expect(Math.max(...widths)).toBeLessThanOrEqual(40);
  }
});

test("a graph of a long game shows mean values, and its arrows are below the graph", () => {
  const percents = course(600, (index) => (index % 2 === 0 ? 0 : 100));
  const lines = drawGraph({ percents, marked: [599], parts: [{ name: "opening", at: 0 }] }, 80);
  expect(lines[3]).toMatch(/┤[▅█]+$/);
  expect(lines[0]).toMatch(/^ White ┤$/);
  expect(lines[6]?.length).toBe(lines[5]?.length);
});

test("the name of a phase that begins near the end of a long game stands before its mark, and no line is too long", () => {
  for (const columns of [40, 60, 80, 120]) {
    for (const at of [40, 70, 78, 79, 80]) {
      const parts = [
        { name: "opening", at: 0 },
        { name: "middlegame", at: 20 },
        { name: "endgame", at },
      ];
      const lines = drawGraph({ percents: course(81, () => 50), marked: [], parts }, columns);
      const names = lines.at(-1) ?? "";
      // Each line is printed with an indentation of two spaces.
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns - 2);
      expect(names.match(/╵/g)).toHaveLength(3);
    }
  }
  const parts = [{ name: "endgame", at: 80 }];
  const names = drawGraph({ percents: course(81, () => 50), marked: [], parts }, 80).at(-1);
  expect(names).toMatch(/^ +endgame╵$/);
});

test("a line is not broken between a number and its move or unit", () => {
  expect(wrapped("searched 388 nodes in 429 ms of engine time", 25)).toEqual([
    "searched 388 nodes in",
    "  429 ms of engine time",
  ]);
  expect(wrapped("12. Nf3 Nc6 13... Bb5", 13)).toEqual(["12. Nf3 Nc6", "  13... Bb5"]);
});
