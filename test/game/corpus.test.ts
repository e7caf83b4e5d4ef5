import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorOf, gameOf, sansOf } from "./games.ts";

const folder = new URL("../corpus/pgn/", import.meta.url);

interface Accepted {
  readonly file: string;
  readonly what: string;
  readonly moves: string;
  readonly result: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly nags?: readonly (readonly number[])[];
}

interface Refused {
  readonly file: string;
  readonly what: string;
  readonly code: string;
  readonly ply: number;
  readonly token: string;
  readonly offset: number;
  readonly says: string;
}

const cases = readFileSync(new URL("../corpus/pgn.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): Accepted | Refused => JSON.parse(line));
const accepted = cases.filter((one) => "moves" in one);
const refused = cases.filter((one) => "code" in one);

const textOf = (file: string) => readFileSync(new URL(file, folder), "utf8");

test("the list of the PGN corpus names every file of the folder", () => {
  expect(cases.map(({ file }) => file).toSorted()).toEqual(readdirSync(folder).toSorted());
  expect(accepted.length).toBeGreaterThan(30);
  expect(refused.length).toBeGreaterThan(30);
});

test.each(accepted)("a PGN is read with $what", ({ file, moves, result, tags = {}, nags }) => {
  const game = gameOf(textOf(file));
  expect(sansOf(game)).toBe(moves);
  expect(game.result).toBe(result);
  expect(Object.fromEntries(game.tags)).toMatchObject(tags);
  const glyphs = [...game.tree.moves.mainline()].map((move) => move.nags);
  expect(nags ?? glyphs).toEqual(glyphs);
});

test.each(refused)("a PGN is refused for $what", ({ file, code, ply, token, offset, says }) => {
  const text = textOf(file);
  const error = errorOf(() => gameOf(text));
  expect(error.message).toContain(says);
  const lines = text.slice(0, offset).split("\n");
  const place = { ply, token, offset, line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
  expect(error.violations).toMatchObject([{ pointer: "/pgn", code, place }]);
});
