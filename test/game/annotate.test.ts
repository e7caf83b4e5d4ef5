import { makePgn } from "chessops/pgn";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import { annotate } from "../../src/game/annotate.ts";
import { type Game, gameFromMoves } from "../../src/game/game.ts";
import { type evaluate, gameOf, review, type Shorthand, sansOf } from "./games.ts";
import { pgnTexts } from "./random-games.ts";

function annotated(game: Game, evaluations: Parameters<typeof evaluate>[1] = []): string {
  return inOneGo(annotate(game, review(game, evaluations)));
}

test("an annotated PGN has evaluations, and for judged moves a glyph, a comment and the best line", () => {
  const game = gameOf('[White "A \\"B\\""]\n\n1. e4 e5 2. Ke2 1-0');
  const evaluations = [
    { score: 15 },
    { score: 30 },
    { score: 25, lines: [["g1f3"] as const] },
    { score: -60 },
  ];
  expect(annotated(game, evaluations)).toBe(
    '[White "A \\"B\\""]\n\n' +
      "1. e4 { [%eval 0.30] } 1... e5 { [%eval 0.25] } " +
      "2. Ke2 $6 { [%eval -0.60] } { (0.25 → -0.60) Inaccuracy. Nf3 was best. } ( 2. Nf3 ) 1-0\n",
  );
});

test.each(["$1", "$2", "$6", "$3 $18"])(
  "an annotated PGN has no second glyph for a move beside the author's: %s",
  (glyphs) => {
    const evaluations = [15, 30, 25, -60].map((score) => ({ score, lines: [["g1f3"] as const] }));
    const text = annotated(gameOf(`1. e4 e5 2. Ke2 ${glyphs} *`), evaluations);
    expect(text).toContain(`2. Ke2 ${glyphs} { [%eval -0.60] } { (0.25 → -0.60) Inaccuracy.`);
  },
);

test("an annotated PGN has its glyph beside glyphs that do not judge the move", () => {
  const evaluations = [15, 30, 25, -60].map((score) => ({ score, lines: [["g1f3"] as const] }));
  expect(annotated(gameOf("1. e4 e5 2. Ke2 $18 *"), evaluations)).toContain("2. Ke2 $6 $18 {");
});

test("an annotated PGN keeps variations as they are written, even illegal ones", () => {
  expect(annotated(gameOf("1. e4 (1. Qh5 Ke5) e5 *"))).toBe(
    "1. e4 { [%eval 0.00] } ( 1. Qh5 Ke5 ) 1... e5 { [%eval 0.00] } *\n",
  );
});

test("an annotated PGN has mates in moves, and no evaluation after a mate on the board", () => {
  const scores: readonly Shorthand[] = [0, 0, 0, "#-1"];
  const text = annotated(
    gameOf("1. f3 e5 2. g4 Qh4"),
    scores.map((score) => ({ score })),
  );
  expect(text).toContain("2. g4 { [%eval #-1] } 2... Qh4# 0-1\n");
});

test("an annotated PGN keeps its text, with other evaluations replaced", () => {
  const game = gameOf(
    "{intro} 1. e4 {[%eval 0.99] [%clk 0:01:00] [%x y] well} {[%eval 1.5, 20]} e5 {so [%eval #3]} ({why} 1... c5 $1 {[%eval 0.1]}) $10",
  );
  expect(annotated(game)).toBe(
    "{ intro } 1. e4 { [%eval 0.00] [%clk 0:01:00] [%x y] well } 1... e5 $10 { [%eval 0.00] } { so } " +
      "( { why } 1... c5 $1 { [%eval 0.1] } ) *\n",
  );
});

test("an annotated PGN says from which position the game begins", () => {
  const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
  expect(annotated(gameOf(`[FEN "${fen}"]\n\n1... Bc5`))).toBe(
    `[FEN "${fen}"]\n[SetUp "1"]\n\n3... Bc5 { [%eval 0.00] } *\n`,
  );
  const shuffled = {
    fen: "nrbkrqbn/pppppppp/8/8/8/8/PPPPPPPP/NRBKRQBN w EBeb - 0 1",
    moves: ["f4"],
  };
  expect(annotated(inOneGo(gameFromMoves(shuffled)))).toBe(
    `[FEN "${shuffled.fen}"]\n[SetUp "1"]\n[Variant "Chess960"]\n\n1. f4 { [%eval 0.00] } *\n`,
  );
});

test("an annotated PGN with deep variations, or of a long game, comes in pieces", () => {
  const deep = `1. e4 ${"(1. d4 d5 ".repeat(100)}${")".repeat(100)}`;
  const long = `1. e4 ${"(1. d4 d5) ".repeat(2499)}`;
  for (const text of [deep, long]) {
    expect(sansOf(gameOf(annotated(gameOf(text))))).toBe("e4");
  }
  const game = gameOf(long);
  const pieces = [...annotate(game, review(game, []))];
  expect(pieces.length).toBeGreaterThan(25);
});

test("an annotated PGN has the moves of its game, and does not change when it is annotated again", () => {
  const scores = fc.array(
    fc.oneof(
      fc.integer({ min: -2000, max: 2000 }),
      fc.integer({ min: 1, max: 30 }).map((mate): Shorthand => `#${mate}`),
      fc.integer({ min: 1, max: 30 }).map((mate): Shorthand => `#${-mate}`),
    ),
    { minLength: 61, maxLength: 61 },
  );
  fc.assert(
    fc.property(pgnTexts, scores, ({ text }, all) => {
      const game = gameOf(text);
      const evaluations = all.map((score) => ({
        score,
        lines: [["g1f3"], ["g8f6"], ["a2a3"], ["a7a6"]] as const,
      }));
      const once = annotated(game, evaluations);
      const again = gameOf(once);
      expect(sansOf(again)).toBe(sansOf(game));
      expect(again.clocksMs).toEqual(game.clocksMs);
      expect(annotated(again, evaluations)).toBe(once);
      // Everything that was written is still there, in its order.
      const rest = makePgn({ ...game.tree, headers: new Map() }).split(/\s+/);
      expect(
        isWithin(
          rest.filter((word) => !/^(\d+\.+|[{}()*]|\$\d)$/.test(word)),
          once.split(/\s+/),
        ),
      ).toBe(true);
    }),
  );
});

function isWithin(words: readonly string[], text: readonly string[]): boolean {
  let at = 0;
  for (const word of text) {
    at += word === words[at] ? 1 : 0;
  }
  return at === words.length;
}
