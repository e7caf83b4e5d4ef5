import type { Chess } from "chessops/chess";
import { trackHistory } from "./history.ts";
import {
  describeAndPlay,
  type LegalMove,
  type MoveDescription,
  moveFromText,
  whyNotPlayed,
} from "./moves.ts";
import type { Position } from "./position.ts";
import { positionFromBoard } from "./validate-position.ts";

/** The longest game that is read, in plies. This limits the searches of a review, and the moves of a request. */
export const pliesMax = 600;

/** A game that was played on one board. */
export interface PlayedGame {
  readonly start: Position;
  readonly moves: readonly MoveDescription[];
  /** After the last of `moves`. */
  readonly last: Position;
  /** The reason why the next move is not legal, in the words of {@link whyNotPlayed}; undefined if all moves were played. */
  readonly refused: string | undefined;
}

/** Takes the position after each move of a game. */
export type OnPosition = (position: Position) => void;

/** Moves that are played in one time slice: about a millisecond. */
const movesAtOnce = 20;

/**
 * Plays moves in UCI or SAN on one board; stops at the first move that is not legal. Yields after each time slice.
 *
 * The history of each position is short (see {@link trackHistory}), so that positions which games have in common are the same search. A
 * finished position has no history, because no engine searches it. A game may go on after a draw by the rules: older games did.
 *
 * @param start a position without moves
 * @param onPosition without it, only the last position is made: a position takes two kilobytes
 * @param readMove finds the move that a text names
 */
export function* playGame(
  start: Position,
  texts: readonly string[],
  onPosition?: OnPosition,
  readMove: (chess: Chess, text: string) => LegalMove | undefined = moveFromText,
): Generator<void, PlayedGame> {
  const { chess960 } = start;
  const chess = start.board.clone();
  const moves: MoveDescription[] = [];
  const history = trackHistory(chess, chess960);
  let refused: string | undefined;

  function currentPosition(): Position {
    const position = positionFromBoard(chess.clone(), history, chess960);
    // The history of a game that is not over has 149 moves at most.
    return position.terminal
      ? { ...position, root: position.fen, moves: [] }
      : { ...position, moves: history.moves.slice() };
  }

  for (const [index, text] of texts.entries()) {
    if (index > 0 && index % movesAtOnce === 0) {
      yield;
    }
    const legal = readMove(chess, text);
    if (legal === undefined) {
      refused = whyNotPlayed(chess, text, chess960);
      break;
    }
    const move = describeAndPlay(chess, legal, chess960);
    history.add(move.uci);
    moves.push(move);
    onPosition?.(currentPosition());
  }
  return { start, moves, last: moves.length === 0 ? start : currentPosition(), refused };
}
