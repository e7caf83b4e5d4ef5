import { readdirSync } from "node:fs";
import type { Position } from "../src/chess/position.ts";
import { validatePosition } from "../src/chess/validate-position.ts";
import type { Random } from "../test/support/random.ts";

export interface BenchEnding {
  /** The name of the table, such as `KQvKR`. */
  readonly name: string;
  readonly position: Position;
}

/** Returns the names of all tables in a folder. */
export function namesOfTables(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((file) => (file.endsWith(".rtbw") ? [file.slice(0, -5)] : []));
}

/** Returns a random position of a table. */
export function randomEnding(name: string, random: Random): BenchEnding {
  for (;;) {
    const board = Array.from({ length: 64 }, () => "1");
    for (const piece of name.replace(/v.*/, "") + name.replace(/.*v/, "").toLowerCase()) {
      board[random.below(64)] = piece;
    }
    const ranks = Array.from({ length: 8 }, (_, rank) => board.slice(8 * rank, 8 * rank + 8).join(""));
    const placement = ranks.map((rank) => rank.replaceAll(/1+/g, (empty) => String(empty.length))).join("/");
    const fen = `${placement} ${random.pick(["w", "b"])} - - 0 1`;
    const validation = validatePosition({ fen, moves: [], chess960: false });
    if (
      validation.kind === "position" &&
      validation.position.board.board.occupied.size() === name.length - 1
    ) {
      return { name, position: validation.position };
    }
  }
}
