import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { drawBoard } from "../../../src/cli/review/draw-board.ts";
import { drawGraph } from "../../../src/cli/review/draw-graph.ts";
import { styleOf } from "../../../src/cli/style.ts";

const stdout = { fd: 1, write() {}, once() {} };
const plain = styleOf({ env: {}, stdout });
const terminal = styleOf({ env: {}, stdout: { ...stdout, isTTY: true, columns: 40 } });

test("colours are shown on a terminal, unless its user refuses them", () => {
  const tty = { ...stdout, isTTY: true, columns: 132 };
  expect(styleOf({ env: {}, stdout: tty })).toMatchObject({ hasColors: true, columns: 132 });
  expect(styleOf({ env: { NO_COLOR: "" }, stdout: tty }).hasColors).toBe(true);
  expect(styleOf({ env: { NO_COLOR: "1" }, stdout: tty }).hasColors).toBe(false);
  expect(styleOf({ env: { TERM: "dumb" }, stdout: tty }).hasColors).toBe(false);
  expect(plain).toMatchObject({ hasColors: false, columns: 80 });
  expect([plain.paint("red", "a"), terminal.paint("red", "a")]).toEqual(["a", "\u001b[31ma\u001b[39m"]);
});

test("printed lines are as wide as COLUMNS says, on a terminal and elsewhere", () => {
  const tty = { ...stdout, isTTY: true, columns: 132 };
  expect(styleOf({ env: { COLUMNS: "60" }, stdout: tty }).columns).toBe(60);
  expect(styleOf({ env: { COLUMNS: "60" }, stdout }).columns).toBe(60);
  expect(styleOf({ env: { COLUMNS: "wide" }, stdout }).columns).toBe(80);
});

const fen = "r3k2r/8/8/8/8/8/6P1/R3K2R w KQkq - 0 1";
const move = { played: { from: "e1", to: "g1" }, best: { from: "a1", to: "a8" } };

test("a printed board is seen from the side to move, and marks both squares of the move", () => {
  expect(drawBoard({ fen, side: "white", ...move }, plain)).toEqual([
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
  const black = drawBoard({ fen, side: "black", ...move }, plain);
  expect([black[0], black[7], black[8]]).toEqual([
    "1  R (·)   (K)    ·    [R]",
    "8  r     ·  k  ·     · [r]",
    "   h  g  f  e  d  c  b  a",
  ]);
});

test("a printed board has colours and figures on a terminal, and lines of equal width", () => {
  const lines = drawBoard({ fen, side: "white", ...move }, terminal);
  const [first = "", ...others] = lines.slice(0, 8).map(stripVTControlCharacters);
  expect(first).toBe("8  ♜           ♚        ♜ ");
  expect(others.every(({ length }) => length === first.length)).toBe(true);
  expect(lines[7]).toContain("\u001b[41m\u001b[97m ♚ ");
  expect(lines[7]).toContain("\u001b[42m\u001b[97m ♜ ");
  expect(lines[0]).toContain("\u001b[42m\u001b[30m ♜ ");
});

const course = (count: number, percent: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => percent(index));

test("a printed graph rises with White's chances, and a short game is not stretched", () => {
  const lines = drawGraph(
    {
      percents: [50, 100, 0],
      marked: [2],
      parts: [
        { name: "opening", at: 0 },
        { name: "endgame", at: 2 },
      ],
    },
    plain,
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

test("a printed graph is as wide as the terminal allows, whatever the length of the game", () => {
  for (const count of [1, 30, 600]) {
    const widths = drawGraph({ percents: course(count, () => 100), marked: [], parts: [] }, terminal).map(
      (line) => stripVTControlCharacters(line).length,
    );
    expect(Math.max(...widths)).toBeLessThanOrEqual(40);
  }
});

test("a printed graph of a long game shows means, and its arrows stay below it", () => {
  const percents = course(600, (index) => (index % 2 === 0 ? 0 : 100));
  const lines = drawGraph({ percents, marked: [599], parts: [{ name: "opening", at: 0 }] }, plain);
  expect(lines[3]).toMatch(/┤[▅█]+$/);
  expect(lines[0]).toMatch(/^ White ┤$/);
  expect(lines[6]?.length).toBe(lines[5]?.length);
});
