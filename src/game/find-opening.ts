import type { Position } from "../chess/position.ts";
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

/** @param rows of `gen/openings.json`: `key;eco name` */
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
