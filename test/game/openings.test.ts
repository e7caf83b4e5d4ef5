import { globSync, readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import type { Openings } from "../../src/game/find-opening.ts";
import { openingKey } from "../../src/game/opening-key.ts";
import { readOpenings } from "../../src/game/openings.ts";
import { gameOf } from "./games.ts";

let openings: Openings;
beforeAll(async () => {
  openings = await readOpenings();
});

const openingOf = (pgn: string) => openings.find(gameOf(pgn).positions);

test.each([
  ["1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5", "C50", "Italian Game: Giuoco Piano", 6],
  ["1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. a3 a6", "C50", "Italian Game: Giuoco Piano", 6],
  ["1. Nf3 Nc6 2. e4 e5 3. Bc4 Bc5", "C50", "Italian Game: Giuoco Piano", 6],
  ["1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6", "B90", "Sicilian Defense: Najdorf Variation", 10],
  ["1. d4", "A40", "Queen's Pawn Game", 1],
  [
    '[FEN "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]\n\n1... h5',
    "B00",
    "Goldsmith Defense",
    1,
  ],
] as const)("the opening of %s is %s %s and ends at ply %i", (pgn, eco, name, ply) => {
  expect(openingOf(pgn)).toEqual({ eco, name, ply });
});

test("the initial position of a game can have an opening name", () => {
  const fen = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 3 9";
  expect(openingOf(`[FEN "${fen}"]\n\n9... h5 10. Na3 Na6 11. Nb1 Nb8`)).toMatchObject({
    eco: "A40",
    ply: 0,
  });
});

test("a Chess960 game and a game that is not in the opening table have no opening name", () => {
  expect(openingOf('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4')).toBeUndefined();
  expect(openingOf('[Variant "Chess960"]\n\n1. e4 e5')).toBeUndefined();
});

test("the opening table is up to date with lichess-org/chess-openings", () => {
  const rows = globSync("third_party/chess-openings/*.tsv")
    .toSorted()
    .flatMap((file) => readFileSync(file, "utf8").trim().split("\n").slice(1))
    .map((row) => row.split("\t"));
  const table: readonly string[] = JSON.parse(readFileSync("gen/openings.json", "utf8"));
  expect(rows.length).toBeGreaterThan(3800);
  expect(table).toHaveLength(rows.length);
  // Only every twentieth opening is played. `npm run generate` plays all openings, which takes two seconds.
  for (const [index, [eco, name, pgn = ""]] of rows.entries()) {
    const key =
      index % 20 === 0 ? openingKey(gameOf(pgn).positions.at(-1)?.fen ?? "") : table[index]?.split(";")[0];
    expect(table[index]).toBe(`${key};${eco} ${name}`);
  }
});
