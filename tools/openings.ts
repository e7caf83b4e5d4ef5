/** Writes `gen/openings.json`, which maps positions to the names of openings, from `third_party/chess-openings/`. */
import { readFileSync, writeFileSync } from "node:fs";
import { inOneGo } from "../src/chess/in-one-go.ts";
import { gameFromPgn } from "../src/game/game.ts";
import { openingKey } from "../src/game/opening-key.ts";
import { readPgn } from "../src/game/read-pgn.ts";

const folder = new URL("../third_party/chess-openings/", import.meta.url);
const names = new Map<string, string>();
for (const volume of ["a", "b", "c", "d", "e"]) {
  const [, ...rows] = readFileSync(new URL(`${volume}.tsv`, folder), "utf8")
    .trimEnd()
    .split("\n");
  for (const row of rows) {
    const [eco, name, pgn = ""] = row.split("\t");
    const { positions } = inOneGo(gameFromPgn(inOneGo(readPgn({ text: pgn }))));
    const key = openingKey(positions.at(-1)?.fen ?? "");
    if (names.has(key)) {
      throw new Error(`two names for one position: ${names.get(key)} and ${eco} ${name}`);
    }
    names.set(key, `${eco} ${name}`);
  }
}
const table = [...names].map(([key, name]) => JSON.stringify(`${key};${name}`));
writeFileSync(new URL("../gen/openings.json", import.meta.url), `[\n${table.join(",\n")}\n]\n`);
