import type { Chess } from "chessops/chess";
import { normalFen, repetitionKey } from "./normal-fen.ts";
import type { PositionFault } from "./position.ts";
import { quote } from "./quote.ts";
import { moveFromText, movesFromSan, uciFromMove } from "./read-move.ts";

/** `occurrences` counts how often the last position stood on the board, itself included. */
export type History =
  | { kind: "history"; ucis: readonly string[]; occurrences: number }
  | { kind: "fault"; fault: PositionFault };

/** Moves that are played in one piece: about a quarter of a millisecond, two at the worst. */
export const movesAtOnce = 50;

/**
 * Plays a caller's moves, UCI or SAN, on `chess` itself; stops at the first one that is not legal. Yields now and again:
 * the longest game takes up to ten milliseconds.
 */
export function* playMoves(
  chess: Chess,
  moves: readonly string[],
  chess960: boolean,
): Generator<void, History> {
  const ucis: string[] = [];
  const seen = new Map<string, number>();
  let key = repetitionKey(chess);
  seen.set(key, 1);
  for (const [index, text] of moves.entries()) {
    if (index > 0 && index % movesAtOnce === 0) {
      yield;
    }
    const move = moveFromText(chess, text);
    if (move === undefined) {
      return { kind: "fault", fault: faultOfMove(chess, text, index, chess960) };
    }
    ucis.push(uciFromMove(chess, move, chess960));
    chess.play(move);
    key = repetitionKey(chess);
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return { kind: "history", ucis, occurrences: seen.get(key) ?? 1 };
}

function faultOfMove(chess: Chess, text: string, index: number, chess960: boolean): PositionFault {
  const mover = chess.turn === "white" ? "White" : "Black";
  const where = `moves[${index}], in the position ${normalFen(chess, chess960)}`;
  const meant = movesFromSan(chess, text).map((move) => uciFromMove(chess, move, chess960));
  const named =
    meant.length > 1
      ? `matches more than one legal move for ${mover}: ${meant.join(", ")}`
      : `is not a legal move for ${mover}`;
  const message = `${quote(text)} ${named} (${where}).`;
  return { code: "illegal_move", field: "moves", index, message };
}
