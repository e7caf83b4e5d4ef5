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

/** The maximum number of plies in a game. Limits the number of searches for a review. */
export const pliesMax = 600;

export interface PlayedGame {
  readonly start: Position;
  readonly moves: readonly MoveDescription[];
  readonly last: Position;
  /** The result of {@link whyNotPlayed} for the first illegal move. Undefined if all moves were played. */
  readonly refused: string | undefined;
}

type OnPosition = (position: Position) => void;

/** Playing this number of moves takes about a millisecond. */
const movesAtOnce = 20;

/**
 * Plays moves until the first illegal move. Accepts moves after an automatic draw, because older games contain such moves.
 * Calls `onPosition` after each move, and yields after each time slice.
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
    onPosition?.(positionOf(chess, history, chess960));
  }
  const last = moves.length === 0 ? start : positionOf(chess, history, chess960);
  return { start, moves, last, refused };
}

/**
 * Returns the start position, then the position after each move of a game that {@link playGame} has played. Does not describe
 * the moves again, because their descriptions need more memory than the positions. Yields after each time slice.
 */
export function* positionsOf({
  start,
  moves,
}: Pick<PlayedGame, "start" | "moves">): Generator<void, readonly Position[]> {
  const { chess960 } = start;
  const chess = start.board.clone();
  const history = trackHistory(chess, chess960);
  const positions = [start];
  for (const [index, { uci }] of moves.entries()) {
    if (index > 0 && index % movesAtOnce === 0) {
      yield;
    }
    const move = moveFromText(chess, uci);
    if (move === undefined) {
      throw new Error(`${uci} is not legal in a game that was played`);
    }
    chess.play(move);
    history.add(uci);
    positions.push(positionOf(chess, history, chess960));
  }
  return positions;
}

function positionOf(chess: Chess, history: ReturnType<typeof trackHistory>, chess960: boolean): Position {
  const position = positionFromBoard(chess.clone(), history, chess960);
  // At most 149 moves are copied, because the game is over after 150 moves without a capture or pawn move.
  return position.terminal
    ? { ...position, root: position.fen, moves: [] }
    : { ...position, moves: history.moves.slice() };
}
