import fc from "fast-check";
import { expect, test } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import { readPgn } from "../../src/game/read-pgn.ts";
import { splitGames } from "../../src/game/split-games.ts";
import { errorOf, gameOf } from "./games.ts";
import { gameWithLine, headerLines, pawnEnding } from "./header-lines.ts";

const three =
  '% exported\n[Event "a"]\n\n1. e4 e5\n\n2. Nf3 *\n\n[Event "b"]\n[Site "y"]\r\n1. d4 {does not end\n\n[Event "c"]\n\n1. c4 { [x "y"] }\n';

async function split(text: string, characters: number) {
  async function* chunks() {
    for (let at = 0; at < text.length; at += characters) {
      yield text.slice(at, at + characters);
    }
  }
  return Array.fromAsync(splitGames(chunks()));
}

test("a file is split into games with their line numbers, for every size of the chunks", async () => {
  for (const characters of [1, 7, 10_000]) {
    const games = await split(three, characters);
    expect(games.map(({ text }) => text).join("")).toBe(three);
    expect(games.map(({ file }) => file)).toEqual([
      { game: 1, offset: 0, line: 1 },
      { game: 2, offset: three.indexOf('[Event "b"]'), line: 8 },
      { game: 3, offset: three.indexOf('[Event "c"]'), line: 12 },
    ]);
  }
});

test("an invalid game does not affect the next game of the file", async () => {
  const [first, second, third] = await split(three, 64);
  if (!first || !second || !third) {
    expect.fail("a game is missing");
  }
  expect(inOneGo(readPgn(first)).moves).toHaveLength(3);
  expect(errorOf(() => inOneGo(readPgn(second))).violations[0]?.place).toMatchObject({
    game: 2,
    line: 10,
    column: 7,
  });
  expect(inOneGo(readPgn(third)).moves).toHaveLength(1);
});

test.each([
  ["a game without moves is a separate game", '[Event "a"]\n[Result "*"]\n\n', '[Event "b"]\n\n1. e4 *\n'],
  ["a blank line between tags begins no game", '[Event "a"]\n\n[White "x"]\n\n1. e4 *\n'],
  [
    "a comment before tags belongs to the game of the tags",
    '{ mine }\n[Event "a"]\n\n1. e4 *\n',
    '[Event "b"]\n\n1. d4 *\n',
  ],
  [
    "a comment before moves without tags belongs to the game of the moves",
    "{ mine }\n1. e4 *\n",
    '[Event "b"]\n\n1. d4 *\n',
  ],
  ["carriage returns end lines", '[Event "a"]\r\r1. e4 *\r', '[Event "b"]\r\r1. d4 *\r'],
])("the game splitter finds the border between two games: %s", async (_, ...games) => {
  for (const characters of [1, 7, 10_000]) {
    const found = await split(games.join(""), characters);
    expect(found.map(({ text }) => text)).toEqual(games);
    const lines = games.map(
      (_, index) =>
        games
          .slice(0, index)
          .join("")
          .split(/[\r\n]/).length,
    );
    expect(found.map(({ file }) => file?.line)).toEqual(lines);
  }
});

test.each([
  ["a tag in a comment", '[White "x"]\n\n1. e4 {as in\n[Event "y"]\n\n[Site "z"]\n1. d4 d5} e5 *\n', 2],
  ["a tag in a comment with a brace", '1. e4 {as in\n[Event "y"] {sic}\n\n} e5\n', undefined],
  ["a tag after a comment", '1. e4 {a\n[Event "y"]\nb}\n[White "x"] 1. e4 *\n', undefined],
  ["a brace in a tag", '[Event "{"]\n1. e4 *\n', 1],
  ["a brace in a comment to the end of the line", "1. e4 ; {\n e5 *\n", 2],
  ["a brace in an escaped line", "% {\n1. e4 e5 *\n", 2],
  ["a comment of many lines before the tags", '{ by\nx }\n[Event "a"]\n\n1. e4 *\n', 1],
  ["a comment among the tags", '[Event "a"]\n{ by x }\n[White "x"]\n1. e4 *\n', 1],
])("%s gives the same game in a file and in a request", async (_, text, plies) => {
  const next = '[Event "b"]\n\n1. d4 *\n';
  for (const characters of [1, 7, 10_000]) {
    const games = await split(text + next, characters);
    expect(games.at(-1)?.text).toBe(next);
    expect(
      games
        .slice(0, -1)
        .map((game) => game.text)
        .join(""),
    ).toBe(text);
    if (plies !== undefined) {
      expect(games).toHaveLength(2);
      expect(gameOf(text).moves).toHaveLength(plies);
    }
  }
  expect(errorOf(() => gameOf(text + next)).code).toBe("invalid_pgn");
});

test.each(headerLines)("the line %j between tags does not begin a game", async (line, named) => {
  const text = gameWithLine(line);
  const next = '[Event "y"]\n\n1. d4 *\n';
  for (const characters of [1, 7, 10_000]) {
    const games = await split(text + next, characters);
    expect(games.map((game) => game.text)).toEqual([text, next]);
  }
  if (named === undefined) {
    const { positions, tags } = gameOf(text);
    expect(positions[0]?.fen).toBe(pawnEnding);
    expect(Object.fromEntries(tags)).toMatchObject({ Event: "x", FEN: pawnEnding, Black: "B" });
  } else {
    const [violation] = errorOf(() => gameOf(text)).violations;
    expect(violation).toMatchObject({ code: "invalid_pgn", place: { token: named, line: 3 } });
    expect(violation?.message).not.toContain("second game");
  }
});

test("a tag after a result behind a blank line begins a game, even if neither game has moves", async () => {
  const games = ['[Event "a"]\n\n1-0\n', '[White "b"]\n\n1/2 - 1/2\n', '[Black "c"]\n\n1. e4 *\n'];
  for (const characters of [1, 7, 10_000]) {
    expect((await split(games.join(""), characters)).map(({ text }) => text)).toEqual(games);
  }
});

test("a game in another language ends before the tags of the next game", async () => {
  const games = ['[Event "a"]\n\n1. Sf3 Sf6 2. Sc3 Sc6\n', '[White "b"]\n\n1. e4 *\n'];
  expect((await split(games.join(""), 7)).map(({ text }) => text)).toEqual(games);
});

test("a game on one long line without a blank line before it ends before the next tag", async () => {
  const moves = "Nf3 Nf6 Ng1 Ng8 ".repeat(6000);
  const games = [`[Event "a"]\n${moves}\n`, '[White "b"]\n\n1. e4 *\n'];
  expect((await split(games.join(""), 65_536)).map(({ text }) => text)).toEqual(games);
  expect(errorOf(() => gameOf(games.join(""))).violations).toMatchObject([{ code: "out_of_range" }]);
});

test.each([
  ['[Event "a"]\n[Result "0-1"]\n\n[Event "b"]\n\n1. e4 *\n', 28],
  ['[Event "a"]\n\n1. e4 {does not end\n\n[Event "b"]\n\n1. d4 {good} *\n', 19],
])("the error for a second game has the offset at which a file would be split: %j", (text, offset) => {
  expect(errorOf(() => gameOf(text)).violations).toMatchObject([{ code: "invalid_pgn", place: { offset } }]);
});

test("an endless comment does not hide the later games of a file", async () => {
  const games = ["1. d4 {x\n\n", '[Event "b"]\n1. e4 *\n', '[Event "c"]\n1. c4 {y} *\n'];
  for (const characters of [1, 7, 10_000]) {
    const found = await split(games.join(""), characters);
    expect(found.map(({ text }) => text)).toEqual(games);
    expect((await split(games.slice(0, 2).join(""), characters)).map(({ text }) => text)).toEqual(
      games.slice(0, 2),
    );
  }
});

test("a file of blank lines has no games", async () => {
  expect(await split("\n \n", 2)).toEqual([]);
});

test("the games of a split file contain every character exactly once", async () => {
  const line = fc.constantFrom(
    '[Event "x"]\n',
    "\n",
    "1. e4 e5\n",
    "{ [x\n",
    "}\n",
    "; [Event \n",
    "% x\n",
    "1. d4",
    '[a "b"]',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 20 }), async (lines, characters) => {
      const text = lines.join("");
      const games = await split(text, characters);
      expect(
        games
          .map((game) => game.text)
          .join("")
          .trim(),
      ).toBe(text.trim());
      expect(games.map(({ file, text: own }) => text.slice(file?.offset).startsWith(own))).not.toContain(
        false,
      );
    }),
  );
});

test("a megabyte of games is split, and at most 1.2 million characters of an endless game stay in memory", async () => {
  const game = '[Event "x"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 *\n\n';
  expect(await split(game.repeat(16_000), 65_536)).toHaveLength(16_000);
  const [long, next] = await split(`1. e4 ${"(".repeat(3_000_000)}\n${game}`, 65_536);
  expect(long?.text.length).toBeLessThan(1_200_000);
  expect(next?.text).toBe(game);
});
