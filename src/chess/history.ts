import type { Chess } from "chessops/chess";
import { normalFen, repetitionKey } from "./moves.ts";

/** The moves of a game since its last capture or pawn move: no earlier position can be repeated. */
export interface History {
  /** The FEN, in normal form, after the last capture or pawn move, or at the start of the game. */
  readonly root: string;
  /** The moves in UCI from `root`. */
  readonly moves: readonly string[];
  /** The number of times that the position on the board has occurred since `root`, this time included. */
  readonly occurrences: number;
}

/** Tracks the {@link History} of a game that begins with the position on the board. */
export function trackHistory(chess: Chess, chess960: boolean) {
  let seen = new Map([[repetitionKey(chess), 1]]);
  const history = {
    root: normalFen(chess, chess960),
    moves: [] as string[],
    occurrences: 1,
    /** Adds a move that has been played on the board. */
    add(uci: string): void {
      history.moves.push(uci);
      if (chess.halfmoves === 0) {
        history.root = normalFen(chess, chess960);
        history.moves = [];
        seen = new Map();
      }
      const key = repetitionKey(chess);
      history.occurrences = (seen.get(key) ?? 0) + 1;
      seen.set(key, history.occurrences);
    },
  };
  return history;
}
