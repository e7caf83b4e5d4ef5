import { readFile } from "node:fs/promises";
import type { Position } from "../chess/position.ts";
import { inTurns, type Turn } from "../thread/event-loop.ts";
import { openingKey } from "./opening-key.ts";

export interface Opening {
  /** Code in the Encyclopaedia of Chess Openings: `C50`. */
  readonly eco: string;
  readonly name: string;
  /** The last ply of the opening; 0 for a game that begins with its position. */
  readonly ply: number;
}

/** Names openings, by lichess-org/chess-openings. */
export interface Openings {
  /**
   * The opening of a game: its last position that has a name, in whatever order the moves were played. Undefined if no position
   * has a name, and in Chess960.
   *
   * @param positions of the game, the start first
   */
  find(positions: readonly Position[]): Opening | undefined;
}

/** `tools/openings.ts` makes the file. A row is `key;eco name`. */
const file = new URL("../../gen/openings.json", import.meta.url);

/** Rows that are read in one time slice: about a third of a millisecond. */
const rowsAtOnce = 256;

/** Reads the table of 450 kB in time slices. It takes about ten milliseconds, and 1.4 MB of memory. */
export async function readOpenings(turn: Turn): Promise<Openings> {
  const text = await readFile(file, "utf8");
  return inTurns(openingsFromTable(text), turn);
}

function* openingsFromTable(text: string): Generator<void, Openings> {
  const rows: readonly string[] = JSON.parse(text);
  const names = new Map<string, string>();
  for (const [index, row] of rows.entries()) {
    if (index % rowsAtOnce === 0) {
      yield;
    }
    const [key = "", name = ""] = row.split(";");
    names.set(key, name);
  }
  return {
    find(positions) {
      const ply = positions.findLastIndex(({ fen, chess960 }) => !chess960 && names.has(openingKey(fen)));
      const name = names.get(openingKey(positions[ply]?.fen ?? ""));
      return name === undefined ? undefined : { eco: name.slice(0, 3), name: name.slice(4), ply };
    },
  };
}
