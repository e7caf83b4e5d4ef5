import { makePgn } from "chessops/pgn";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import { annotate } from "../../src/game/annotate.ts";
import type { Game } from "../../src/game/game.ts";
import { type evaluate, gameOf, gameOfMoves, review, type Shorthand, sansOf } from "./games.ts";
import { pgnTexts } from "./random-games.ts";

function annotated(game: Game, evaluations: Parameters<typeof evaluate>[1] = []): string {
  return inOneGo(annotate(game, review(game, evaluations)));
}

/** With these evaluations, the king move in `1. e4 e5 2. Ke2` is an inaccuracy. */
const worse = [15, 30, 25, -60].map((score) => ({ score, lines: [["g1f3"] as const] }));

test("an annotated PGN has evaluations, and a glyph, a comment and the best line for each judged move", () => {
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
  "an annotated PGN adds no glyph to a move that the author has already judged: %s",
  (glyphs) => {
    const text = annotated(gameOf(`1. e4 e5 2. Ke2 ${glyphs} *`), worse);
    expect(text).toContain(`2. Ke2 ${glyphs} { [%eval -0.60] } { (0.25 → -0.60) Inaccuracy.`);
  },
);

test("an annotated PGN adds the glyph of the judgment and keeps the author's other glyphs", () => {
  expect(annotated(gameOf("1. e4 e5 2. Ke2 $18 *"), worse)).toContain("2. Ke2 $6 $18 {");
});

test("an annotated PGN keeps all variations unchanged, even illegal variations", () => {
  expect(annotated(gameOf("1. e4 (1. Qh5 Ke5) e5 *"))).toBe(
    "1. e4 { [%eval 0.00] } ( 1. Qh5 Ke5 ) 1... e5 { [%eval 0.00] } *\n",
  );
});

test("an annotated PGN writes mate scores in moves, and has no evaluation after checkmate", () => {
  const scores: readonly Shorthand[] = [0, 0, 0, "#-1"];
  const text = annotated(
    gameOf("1. f3 e5 2. g4 Qh4"),
    scores.map((score) => ({ score })),
  );
  expect(text).toContain("2. g4 { [%eval #-1] } 2... Qh4# 0-1\n");
});

test("an annotated PGN replaces old evaluations and keeps the other text", () => {
  const game = gameOf(
    "{intro} 1. e4 {[%eval 0.99] [%clk 0:01:00] [%x y] well} {[%eval 1.5, 20]} e5 {so [%eval #3]} ({why} 1... c5 $1 {[%eval 0.1]}) $10",
  );
  expect(annotated(game)).toBe(
    "{ intro } 1. e4 { [%eval 0.00] [%clk 0:01:00] [%x y] well } 1... e5 $10 { [%eval 0.00] } { so } " +
      "( { why } 1... c5 $1 { [%eval 0.1] } ) *\n",
  );
});

/** A part of a game that Lichess exported with computer analysis. */
const lichessExport = `[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefgh"]
[Annotator "lichess.org"]

1. e4 { [%eval 0.18] [%clk 0:03:00] } 1... e5 { [%eval 0.21] [%clk 0:03:00] } 2. Bc4 { C23 Bishop's Opening } { [%eval 0.21] [%clk 0:02:58] } 2... Nc6 { [%eval 0.21] [%clk 0:02:55] } 3. Qh5?! { (0.21 → -0.42) Inaccuracy. d3 was best. } { [%eval -0.42] [%clk 0:02:57] } (3. d3 Bc5 4. Nf3 Nf6 5. c3 a5 6. O-O d6 7. Re1 O-O) 3... g6 { [%eval -0.4] } 4. Qf3 { [%eval -0.24] } 4... Bg7?? { (-0.24 → Mate in 1) Checkmate is now unavoidable. Nf6 was best. } { [%eval #1] } (4... Nf6 5. Ne2 d6 6. Nbc3 Bg7 7. d3 O-O 8. a3 Nd4 9. Nxd4) 5. Qb3?? { (Mate in 1 → -2.11) Lost forced checkmate sequence. Qxf7# was best. } { [%eval -2.11] } (5. Qxf7#) 5... Qe7? { (-2.11 → -0.75) Mistake. Nd4 was best. } { [%eval -0.75] } (5... Nd4) 6. Nf3 *
`;

test("an annotated PGN removes the judgments, glyphs and best lines of Lichess, and keeps other comments", () => {
  expect(annotated(gameOf(lichessExport))).toBe(
    lichessExport.slice(0, lichessExport.indexOf("1. e4")) +
      "1. e4 { [%eval 0.00] [%clk 0:03:00] } 1... e5 { [%eval 0.00] [%clk 0:03:00] } " +
      "2. Bc4 { [%eval 0.00] } { C23 Bishop's Opening } { [%clk 0:02:58] } " +
      "2... Nc6 { [%eval 0.00] [%clk 0:02:55] } 3. Qh5 { [%eval 0.00] [%clk 0:02:57] } " +
      "3... g6 { [%eval 0.00] } 4. Qf3 { [%eval 0.00] } 4... Bg7 { [%eval 0.00] } 5. Qb3 { [%eval 0.00] } " +
      "5... Qe7 { [%eval 0.00] } 6. Nf3 { [%eval 0.00] } *\n",
  );
});

const judged = "{ [%eval -0.60] } { (0.25 → -0.60) Inaccuracy. Nf3 was best. }";

test.each([
  ["$4 {(0.91 → -2.52) Blunder. d4 was best.} (2. d4 exd4)", `$6 ${judged} ( 2. Nf3 )`],
  [
    "$4 {(Mate in 2 → -2.52) Lost forced checkmate sequence. d4 was best.} (2. d4)",
    `$6 ${judged} ( 2. Nf3 )`,
  ],
  ["$2 {Mistake. Best move was d4.} (2. d4 exd4)", `$6 ${judged} ( 2. Nf3 )`],
  ["$6 {Not the best checkmate sequence. The best move was d4.}", `$6 ${judged} ( 2. Nf3 )`],
  ["$2 {Mistake. d4 was best. [%eval 1.5] [%x y]}", "$6 { [%eval -0.60] [%x y] } { (0.25"],
  ["{A trap. (0.9 → 0.1) Mistake.}", `$6 ${judged} { A trap. } ( 2. Nf3 )`],
  ["$2 {Mistake. Nf3 was best.} (2. Nf3 Nc6 3. Bb5)", `$6 ${judged} ( 2. Nf3 Nc6 3. Bb5 )`],
  ["{Mistake. d4 was best.} (2. d4 {why}) (2. d4 exd4) (2. Nc3)", "( 2. d4 { why } ) ( 2. Nc3 ) ( 2. Nf3 )"],
  ["$2 {Mistake.} (2. d4)", `$2 ${judged} { Mistake. } ( 2. d4 ) ( 2. Nf3 )`],
  ["$3 {(0.9 → 0.1) Mistake. d4 was best.}", `$3 ${judged} ( 2. Nf3 )`],
  ["{He said: Mistake. d4 was best.}", `${judged} { He said: Mistake. d4 was best. }`],
])("an annotated PGN replaces only the judgments of an earlier analysis: 2. Ke2 %s", (before, after) => {
  const text = annotated(gameOf(`1. e4 e5 2. Ke2 ${before} *`), worse);
  expect(text).toContain(after);
  expect(annotated(gameOf(text), worse)).toBe(text);
});

test("an annotated PGN has the initial position of the game", () => {
  const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
  expect(annotated(gameOf(`[FEN "${fen}"]\n\n1... Bc5`))).toBe(
    `[FEN "${fen}"]\n[SetUp "1"]\n\n3... Bc5 { [%eval 0.00] } *\n`,
  );
  const shuffled = {
    fen: "nrbkrqbn/pppppppp/8/8/8/8/PPPPPPPP/NRBKRQBN w EBeb - 0 1",
    moves: ["f4"],
  };
  expect(annotated(gameOfMoves(shuffled))).toBe(
    `[FEN "${shuffled.fen}"]\n[SetUp "1"]\n[Variant "Chess960"]\n\n1. f4 { [%eval 0.00] } *\n`,
  );
});

test("a long annotated PGN is written in several time slices", () => {
  const deep = `1. e4 ${"(1. d4 d5 ".repeat(100)}${")".repeat(100)}`;
  const long = `1. e4 ${"(1. d4 d5) ".repeat(2499)}`;
  for (const text of [deep, long]) {
    expect(sansOf(gameOf(annotated(gameOf(text))))).toBe("e4");
  }
  const game = gameOf(long);
  const pieces = [...annotate(game, review(game, []))];
  expect(pieces.length).toBeGreaterThan(25);
});

test("an annotated PGN keeps the moves of the game, and a second annotation does not change the PGN", () => {
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
      // The annotated PGN must keep every tag, comment and variation in the original order.
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
