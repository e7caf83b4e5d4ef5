import type { Position } from "../chess/position.ts";
import { openingKey } from "./opening-key.ts";

export interface Opening {
  /** The code in the Encyclopaedia of Chess Openings, such as `C50`. */
  readonly eco: string;
  readonly name: string;
  /** The number of plies from the start of the game to the position of the opening. */
  readonly ply: number;
}

export interface Openings {
  /** Returns the opening of the last position with an opening name. Finds transpositions. Returns undefined for Chess960. */
  find(positions: readonly Position[]): Opening | undefined;
}

/** Each row of `gen/openings.json` has the form `key;eco name`. */
export function openingsFrom(rows: readonly string[]): Openings {
  const names = new Map(
    rows.map((row) => {
      const [key = "", name = ""] = row.split(";");
      return [key, name];
    }),
  );
  return {
    find(positions) {
      const ply = positions.findLastIndex(({ fen, chess960 }) => !chess960 && names.has(openingKey(fen)));
      const name = names.get(openingKey(positions[ply]?.fen ?? ""));
      return name === undefined ? undefined : { eco: name.slice(0, 3), name: name.slice(4), ply };
    },
  };
}
