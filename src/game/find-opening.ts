import type { Position } from "../chess/position.ts";
import { openingKey } from "./opening-key.ts";

export interface Opening {
  /** The code of the opening in the Encyclopaedia of Chess Openings, such as `C50`. */
  readonly eco: string;
  readonly name: string;
  /** The last ply of the opening; 0 if the game begins with the position of the opening. */
  readonly ply: number;
}

export interface Openings {
  /**
   * Returns the name of the last position that has one, however the moves were ordered. Undefined for Chess960.
   *
   * @param positions the positions of the game, the start first
   */
  find(positions: readonly Position[]): Opening | undefined;
}

/** @param rows the rows of `gen/openings.json`, written as `key;eco name` */
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
