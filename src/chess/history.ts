import type { Chess } from "chessops/chess";
import { normalFen, repetitionKey } from "./moves.ts";

/** The moves since the last capture or pawn move. Positions before this capture or pawn move cannot occur again. */
export interface History {
  /** The FEN after the last capture or pawn move, or at the start of the game. The FEN is normalized. */
  readonly root: string;
  readonly moves: readonly string[];
  /** How often the current position has occurred since `root`, at least 1. */
  readonly occurrences: number;
}

/** `chess` is the board at the start of the game. Call `add` after each move on this board. */
export function trackHistory(chess: Chess, chess960: boolean) {
  let seen = new Map([[repetitionKey(chess), 1]]);
  const history = {
    root: normalFen(chess, chess960),
    moves: [] as string[],
    occurrences: 1,
    /** True if a position has occurred twice since `root`. */
    hasRepeated: false,
    /** Returns how often a position has occurred since `root`. */
    occurrencesOf: (position: Chess) => seen.get(repetitionKey(position)) ?? 0,
    add(uci: string): void {
      history.moves.push(uci);
      if (chess.halfmoves === 0) {
        history.root = normalFen(chess, chess960);
        history.moves = [];
        seen = new Map();
        history.hasRepeated = false;
      }
      history.occurrences = history.occurrencesOf(chess) + 1;
      history.hasRepeated ||= history.occurrences > 1;
      seen.set(repetitionKey(chess), history.occurrences);
    },
  };
  return history;
}
