import type { Color } from "../chess/position.ts";

/** The result for the side to move. A win that the fifty-move rule spoils is cursed, and such a loss is blessed. */
export type Category = "win" | "cursed_win" | "draw" | "blessed_loss" | "loss";

export interface TableResult {
  /** From the point of view of the side to move, with the half-move clock heeded. */
  readonly category: Category;
  /** Undefined for all draws, also those by the fifty-move rule. */
  readonly winner: Color | undefined;
  /**
   * The number of plies to the next capture or pawn move, or to the checkmate. At least 1, and 1 after the checkmate. May be too
   * small by 1. Beyond 100 if the fifty-move rule spoils the result whatever the clock is. Undefined for `draw`.
   */
  readonly dtzPlies: number | undefined;
  readonly men: number;
}

export interface TableMove {
  readonly uci: string;
  readonly san: string;
  /** The category of the position after the move, for the side to move there. */
  readonly category: Category;
  readonly dtzPlies: number | undefined;
  /** True for a capture or a pawn move. */
  readonly zeroing: boolean;
  readonly checkmate: boolean;
  readonly stalemate: boolean;
  /** True if the position after the move has occurred twice before, or if the side that loses can then reach such a position. */
  readonly repetition: boolean;
}

export interface TableMoves {
  readonly result: TableResult;
  readonly moves: readonly TableMove[];
}

export interface TablesSummary {
  /** The number of men of the largest table. */
  readonly men: number;
  readonly tables: number;
  /** The SHA-256 of what stands for the content of all tables, in hex. */
  readonly digest: string;
}
