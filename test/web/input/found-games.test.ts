import { expect, test } from "vitest";
import { foundGames, gamesWith } from "../../../web/src/input/found-games.ts";

const twoGames = `[Event "Paris"]\r
[White "Morphy, Paul"]\r
[Black "Isouard"]\r
[Date "1858.??.??"]\r
\r
1. e4 e5 2. Nf3 d6 1-0\r
\r
[Event "London"]\r
[White "Anderssen"]\r
[Black "?"]\r
\r
1. e4 e5 2. f4 exf4 *\r
`;

test("the page finds the games of a text with their tags", async () => {
  const games = await foundGames(twoGames);
  expect(games.map(({ number, tags }) => [number, tags.get("White")])).toEqual([
    [1, "Morphy, Paul"],
    [2, "Anderssen"],
  ]);
  expect(games[1]?.text).toMatch(/^\[Event "London"\]\n/);
});

test("the page converts the line ends of a PGN in the same way as a text field", async () => {
  const [first] = await foundGames(twoGames);
  expect(first?.text).not.toContain("\r");
});

test("a text with a single game stays unchanged, even if the game is invalid", async () => {
  const [game, ...others] = await foundGames("\n1. e4 zzz { no end");
  expect(game?.text).toBe("\n1. e4 zzz { no end");
  expect(others).toEqual([]);
});

test("a blank text contains no game", async () => {
  expect(await foundGames(" \n ")).toEqual([]);
});

test("the search field finds games by words in the tags of the games", async () => {
  const games = await foundGames(twoGames);
  expect(gamesWith("MORPHY paris", games).map(({ number }) => number)).toEqual([1]);
  expect(gamesWith("", games)).toHaveLength(2);
  expect(gamesWith("morphy london", games)).toEqual([]);
  for (const words of ["2", "#2", "Game 2", " game #2 "]) {
    expect(gamesWith(words, games)[0]?.number, words).toBe(2);
  }
});

test("splitting a large text does not block the page", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const games = await foundGames('[White "A"]\r\n\r\n1. e4 e5 *\r\n\r\n'.repeat(80_000));
  clearInterval(timer);
  expect(games).toHaveLength(80_000);
  expect(turns).toBeGreaterThan(5);
});
