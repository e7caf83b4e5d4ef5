import { expect, test } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import { suggestEnglish } from "../../src/game/other-letters.ts";
import { readPgn } from "../../src/game/read-pgn.ts";
import { errorOf, gameOf } from "./games.ts";

function suggestionFor(text: string): unknown {
  const [violation] = errorOf(() => gameOf(text)).violations;
  expect(violation).toMatchObject({
    code: "invalid_pgn",
    message: expect.stringContaining("not a piece in PGN"),
  });
  return (violation?.allowed?.examples as readonly unknown[] | undefined)?.[0];
}

test.each([
  ["German", "1. e4 e5 2. Sf3 Sc6 3. Lc4 Lc5 4. De2!? De7", "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. Qe2!? Qe7"],
  ["French", "1.e4 e5 2.Cf3 Cc6 3.Fc4 Fc5 4.Rf1 Rf8", "1.e4 e5 2.Nf3 Nc6 3.Bc4 Bc5 4.Kf1 Kf8"],
  ["Spanish or Italian", "1. e4 e5 2. Cf3 Cc6 3. Ac4", "1. e4 e5 2. Nf3 Nc6 3. Bc4"],
  ["Portuguese", "1. e4 e5 2. Cf3 Cc6 3. Bc4", "1. e4 e5 2. Nf3 Nc6 3. Bc4"],
  ["Dutch", "1. e4 e5 2. Pf3 Pc6 3. Lc4", "1. e4 e5 2. Nf3 Nc6 3. Bc4"],
  ["Polish", "1. e4 e5 2. Sf3 Sc6 3. Gb5 Hf6", "1. e4 e5 2. Nf3 Nc6 3. Bb5 Qf6"],
  ["Czech or Slovak", "1. e4 e5 2. Jf3 Jc6 3. Sb5", "1. e4 e5 2. Nf3 Nc6 3. Bb5"],
  ["Hungarian", "1. e4 e5 2. Hf3 Hc6 3. Fb5 Bb8", "1. e4 e5 2. Nf3 Nc6 3. Bb5 Rb8"],
  ["Romanian", "1. e4 e5 2. Cf3 Cc6 3. Nb5", "1. e4 e5 2. Nf3 Nc6 3. Bb5"],
  ["Russian", "1. e4 e5 2. Кf3 Крe7!? 3. Сb5", "1. e4 e5 2. Nf3 Ke7!?  3. Bb5"],
  [
    "Russian, with castling",
    "1. e4 e5 2. Кf3 Кc6 3. Сc4 Сc5 4. О-О",
    "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. О-О",
  ],
  ["English, with a letter for pawns", "1. Pe4 d5 2. Pexd5 c6", "1. e4  d5 2. exd5  c6"],
  ["several languages", "1. e4 e5 2. Dh5", "1. e4 e5 2. Qh5"],
  [
    "German, with Sf3 in the tags, comments and variations",
    '[White "Sf3"]\n\n1. e4 {Sf3} (1. Sf3 {Sc6}) e5 2. S1f3 ; Sf3\nS8c6',
    '[White "Sf3"]\n\n1. e4 {Sf3} (1. Nf3 {Sc6}) e5 2. N1f3 ; Sf3\nN8c6',
  ],
  [
    "German, with a promotion",
    '[FEN "4k3/P7/8/8/8/8/6p1/4K3 w - - 0 1"]\n\n1. a8=D+ Kd7 2. Df3 g1S 3. Kd1 Sxf3',
    '[FEN "4k3/P7/8/8/8/8/6p1/4K3 w - - 0 1"]\n\n1. a8=Q+ Kd7 2. Qf3 g1N 3. Kd1 Nxf3',
  ],
])("the error for a game with piece letters in %s suggests the game in English", (_, text, english) => {
  expect(suggestionFor(text)).toBe(english);
  expect(gameOf(english).moves.length).toBeGreaterThan(2);
});

test.each([
  ["an illegal move", "1. e4 e5 2. Sf3 Sc6 3. Lc4 La1"],
  ["letters of two languages", "1. e4 e5 2. Sf3 Nc6"],
  ["a piece letter of no language", "1. e4 e5 2. Sf3 Sc6 3. Xh5"],
  ["moves of knights in German, and of bishops in Czech", "1. e4 e5 2. Se2 Se7"],
  ["a move of a knight in Russian, and of a king in Serbian", "1. e4 e5 2. Кe2"],
  ["a word without meaning", "1. e4 e5 2. Sf3 hello"],
  ["moves of a knight in Dutch, and of a pawn with a letter", "1. e4 e5 2. Pf3"],
  ["a text of more than 64 KiB", `1. e4 e5 2. Sf3 {${"x".repeat(64 * 1024)}}`],
])("the error for a game with %s has no suggestion in English", (_, text) => {
  expect(suggestionFor(text)).toBeUndefined();
});

test.each(["Crazyhouse", "Three-check", "Atomic"])(
  "a game of the variant %s is refused because of its variant",
  (variant) => {
    const text = `[Variant "${variant}"]\n\n1. e4 e5 2. N@f6 Zz`;
    expect(errorOf(() => gameOf(text)).message).toBe(
      `The variant '${variant}' is not supported: the variants are Standard and Chess960 (ply 1, line 1, column 1).`,
    );
  },
);

test("a long game is translated and validated in time slices", () => {
  const text = `1. e4 ${"{a} ".repeat(10_000)} e5 2. Sf3`;
  const slices = [
    ...suggestEnglish(
      errorOf(() => inOneGo(readPgn({ text }))),
      { text },
    ),
  ];
  expect(slices.length).toBeGreaterThan(190);
});
