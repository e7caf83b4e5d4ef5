import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readGamesOf } from "../../../src/cli/review/read-games.ts";

const gamesOf = (...chunks: string[]) =>
  Array.fromAsync(readGamesOf(Readable.from(chunks), "games.pgn", AbortSignal.timeout(5000)));

test.each([
  ["an object", ['{"pgn":"1. e4"}']],
  ["a name with a sign", ['{"$id":1,"pgn":"1. e4"}']],
  ["a list on many lines", ['\ufeff[\r\n  {\r\n    "game id": 7,\r\n    "pgn": "1. e4"\r\n  }\r\n]\r\n']],
  ["a last line without an end", ['{\n"pgn": "1. e4"}']],
  ["one sign at a time", [...'\n[{"a":1}]\n']],
])("a file of JSON is refused: %s", async (_, chunks) => {
  await expect(gamesOf(...chunks)).rejects.toThrow("games.pgn is JSON, and not PGN");
});

test.each(['{ "my" game } 1. e4 *', '{"quoted"} 1. e4 *', '[Event "{\\"a\\": 1}"]\n\n1. e4 *'])(
  "a file that only looks like JSON is read: %j",
  async (text) => {
    expect((await gamesOf(text)).map((game) => game.text)).toEqual([text]);
  },
);
