import { expect, test } from "vitest";
import { exportedPgn, reviewedGame } from "../../../web/src/game/exported-pgn.ts";
import { type Game, mainlineOf, nodeOf, play, promote, remove } from "../../../web/src/game/game.ts";
import { gameFromPgn } from "../../../web/src/game/pgn.ts";

function gameOf(pgn: string): Game {
  const reading = gameFromPgn(pgn);
  return reading.kind === "game" ? reading.game : expect.fail(pgn);
}

const sent =
  '[White "A"]\n[Result "0-1"]\n\n1. f3 { [%clk 0:05:00] } { mine } ( 1. d4 ) 1... e5 2. g4 Qh4# 0-1\n';
const pgn =
  '[White "A"]\n[Result "0-1"]\n\n1. f3 $6 { [%eval -0.50] [%clk 0:05:00] } { Inaccuracy. e4 was best. } { mine } ( 1. d4 ) ( 1. e4 e5 ) ' +
  "1... e5 { [%eval -0.40] } 2. g4 $4 { [%eval #-1] } { Blunder. e4 was best. } ( 2. e4 Nc6 ) 2... Qh4# 0-1\n";
const reviewed = reviewedGame(sent, pgn);
const movesOf = (written: string) => written.split("\n\n")[1]?.trim();

test("the PGN of a game without a review has its tags, comments, glyphs, variations and clocks", () => {
  const text =
    '[White "A"]\n[Result "*"]\n\n{ Start } 1. e4 $1 { [%clk 0:05:00] [%cal Ge2e4] } ( 1. d4 $5 ) 1... e5 *\n';
  expect(exportedPgn(gameOf(text), undefined)).toBe(text);
});

test("the PGN of an unchanged game is the PGN of its review", () => {
  expect(exportedPgn(gameOf(sent), reviewed)).toBe(pgn);
});

test("moves that the user tried are added to the PGN of the review", () => {
  const game = gameOf(sent);
  const tried = play(game, mainlineOf(game)[2] ?? game.start, ["Nh3"]).game;
  expect(movesOf(exportedPgn(tried, reviewed))).toContain(
    "{ Blunder. e4 was best. } ( 2. Nh3 ) ( 2. e4 Nc6 )",
  );
});

test("the PGN has only the moves of a game that was shortened after the review", () => {
  const game = gameOf(sent);
  const shortened = remove(game, mainlineOf(game)[3] ?? game.start);
  expect(movesOf(exportedPgn(shortened, reviewed))).toBe(
    "1. f3 $6 { [%eval -0.50] [%clk 0:05:00] } { Inaccuracy. e4 was best. } { mine } ( 1. d4 ) ( 1. e4 e5 ) 1... e5 { [%eval -0.40] } 0-1",
  );
});

test("the PGN begins with the variation that became the main line after the review", () => {
  const game = gameOf(sent);
  const promoted = promote(game, nodeOf(game, "d2d4"));
  expect(movesOf(exportedPgn(promoted, reviewed))).toMatch(
    /^1\. d4 \( 1\. f3 \$6 \{ \[%eval -0\.50\].*Qh4# \) \( 1\. e4 e5 \) 0-1$/,
  );
});

test("a comment and a glyph that the user changed after the review replace the former, and the evaluation stays", () => {
  const { start, ...game } = gameOf(sent);
  const [first, ...others] = start.children;
  const children = first ? [{ ...first, comments: ["[%clk 0:05:00]", "yours"], nags: [2] }, ...others] : [];
  expect(movesOf(exportedPgn({ ...game, start: { ...start, children } }, reviewed))).toMatch(
    /^1\. f3 \$2 \{ \[%eval -0\.50\] \} \{ Inaccuracy\. e4 was best\. \} \{ \[%clk 0:05:00\] \} \{ yours \}/,
  );
});
