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

/** The longest game in plies. This limits the searches of a review, and the moves of a request. */
export const pliesMax = 600;

export interface PlayedGame {
  readonly start: Position;
  readonly moves: readonly MoveDescription[];
  /** The position after the last of `moves`. */
  readonly last: Position;
  /** The reason in the words of {@link whyNotPlayed}; undefined if all moves were played. */
  readonly refused: string | undefined;
}

export type OnPosition = (position: Position) => void;

/** The number of moves in one time slice, about a millisecond. */
const movesAtOnce = 20;

/**
 * Plays moves up to the first one that is not legal, and yields after each time slice. Moves after a draw by the rules are
 * accepted, because older games have them.
 *
 * @param start a position without moves
 * @param onPosition receives the position after each move; if it is absent, only the last one is made
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
