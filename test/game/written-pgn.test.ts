import { expect, test } from "vitest";
import { errorOf, gameOf, sansOf } from "./games.ts";

const asIfEscaped = expect.stringContaining("escaped twice or in quotation marks");

test.each([
  [
    "line breaks and quotation marks",
    '[Event \\"x\\"]\\n[White \\"A\\" ]\\n\\n1. e4 e5',
    { Event: "x", White: "A" },
  ],
  ["Windows line breaks", '[Event \\"x\\"]\\r\\n\\r\\n1. e4 e5', { Event: "x" }],
  ["a line break between moves", "1. e4\\ne5", {}],
  ["a tab between moves", "1. e4\\te5", {}],
  ["quotation marks around the whole game", ' "1. e4 e5" ', {}],
  ["typographic quotation marks around the whole game", "“1. e4 e5”", {}],
  ["a code fence around the whole game", '```pgn\n[Event "x"]\n\n1. e4 e5\n```', { Event: "x" }],
])("a game is read without %s, with a warning", (_, text, tags) => {
  const game = gameOf(text);
  expect(sansOf(game)).toBe("e4 e5");
  expect(Object.fromEntries(game.tags)).toEqual(tags);
  expect(game.warnings).toMatchObject([{ code: "pgn_corrected", message: asIfEscaped }]);
});

test("a backslash in a comment or in the value of a tag is kept", () => {
  const game = gameOf('[Site "C:\\\\new"]\n\n1. e4 {a\\nb} e5');
  expect(game.tags.get("Site")).toBe("C:\\new");
  expect([...game.tree.moves.mainline()][0]?.comments).toEqual(["a\\nb"]);
  expect(game.warnings).toEqual([]);
});

test("the error in a game that was escaped twice is the error of the game", () => {
  expect(errorOf(() => gameOf('[Event \\"x\\"]\\n\\n1. e4 e5\\n2. Ke3')).violations).toMatchObject([
    { code: "illegal_move", place: { token: "Ke3", line: 4 } },
  ]);
  expect(errorOf(() => gameOf("1. e4 {a\\nb} e4x")).violations).toMatchObject([
    { code: "invalid_pgn", place: { token: "e4x", line: 1, column: 14 } },
  ]);
});

test("the error for a percent-encoded game suggests the decoded game", () => {
  const [violation] = errorOf(() => gameOf("1.%20e4%20e5%0A2.%20Nf3")).violations;
  expect(violation?.allowed).toEqual({ examples: ["1. e4 e5\n2. Nf3"] });
  expect(errorOf(() => gameOf("1.%20e4%20x5")).violations[0]?.allowed).toBeUndefined();
  expect(errorOf(() => gameOf("1.%20e4%FF")).violations[0]?.allowed).toBeUndefined();
});

test("the error for a FEN that is sent as PGN names the field of a FEN", () => {
  const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  expect(errorOf(() => gameOf(fen)).message).toContain(
    "This is a FEN, and not a game in PGN: send it as `fen`",
  );
});
