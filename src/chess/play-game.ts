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

/** The moves of a game that were played on one board, up to the first move that is not legal. */
export interface PlayedGame {
  readonly start: Position;
  readonly moves: readonly MoveDescription[];
  /** The position after the last of `moves`. */
  readonly last: Position;
  /** The reason why the next move is not legal, in the words of {@link whyNotPlayed}; undefined if all moves were played. */
  readonly refused: string | undefined;
}

/** A callback that receives the position after each move of a game. */
export type OnPosition = (position: Position) => void;

/** The number of moves that are played in one time slice, which takes about a millisecond. */
const movesAtOnce = 20;

/**
 * Plays moves in UCI or SAN on one board, up to the first move that is not legal. Yields after each time slice.
 *
 * The history of each position begins after the last capture or pawn move (see {@link trackHistory}), so that equal positions of
 * different games need only one search. The position of a finished game has no history, because no engine searches it. Moves
 * after a draw by the rules are accepted, because older games have them.
 *
 * @param start a position without moves
 * @param onPosition receives each position. If it is absent, only the last position is made, because a position takes two
 * kilobytes
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
    // This copies at most 149 moves: after 150 moves without a capture or pawn move, the game is over.
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
