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
  /**
   * Finds the last position of the game that has a name in the table of openings. Only the position matters, not the order of
   * the moves. Returns undefined for a game of Chess960.
   *
   * @param positions the start position, then the position after each move
   */
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
