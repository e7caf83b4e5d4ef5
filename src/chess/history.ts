import type { Chess } from "chessops/chess";
import { normalFen, repetitionKey } from "./moves.ts";

/** The moves of a game since the last capture or pawn move, because no earlier position can be repeated. */
export interface History {
  /** Normal FEN of the start of the history: after the last capture or pawn move, or the start of the game if there was none. */
  readonly root: string;
  /** UCI moves from `root` to the position on the board. */
  readonly moves: readonly string[];
  /** The number of times that the position has occurred since `root`, this time included. */
  readonly occurrences: number;
}

/** Tracks a game that begins with the position on the board, as a {@link History} that grows. */
export function trackHistory(chess: Chess, chess960: boolean) {
  let root = normalFen(chess, chess960);
  let moves: string[] = [];
  let occurrences = 1;
  let seen = new Map([[repetitionKey(chess), 1]]);
  return {
    get root(): string {
      return root;
    },
    get moves(): readonly string[] {
      return moves;
    },
    get occurrences(): number {
      return occurrences;
    },
    /** Call this after each move has been played on the board. */
    add(uci: string): void {
      moves.push(uci);
      if (chess.halfmoves === 0) {
        root = normalFen(chess, chess960);
        moves = [];
        seen = new Map();
      }
      const key = repetitionKey(chess);
      occurrences = (seen.get(key) ?? 0) + 1;
      seen.set(key, occurrences);
    },
  };
}
