import { positionFromBoard } from "./judge-position.ts";
import { describeAndPlay, type MoveDescription, moveFromText, repetitionKey, whyNotPlayed } from "./moves.ts";
import type { Position } from "./position.ts";

/** A game, move by move: there is one position more than there are moves, the first is the start. */
export interface PlayedGame {
  readonly positions: readonly Position[];
  readonly moves: readonly MoveDescription[];
  /** What is wrong with the move that follows, as {@link whyNotPlayed} says it; undefined if all were played. */
  readonly refused: string | undefined;
}

/** Moves that are played in one piece: about a millisecond. */
const movesAtOnce = 20;

/**
 * Plays a game of moves in UCI or SAN; stops at the first one that is not legal. Yields now and again.
 *
 * The history of each position begins where nothing before can be repeated, after the last capture or pawn move: so it
 * is short, and positions that games have in common are the same search. Nor has a finished one a history: no engine is
 * asked about it. A game may go on behind a draw by the rules, as some that were played before them did.
 *
 * @param start has no moves
 */
export function* playGame(start: Position, texts: readonly string[]): Generator<void, PlayedGame> {
  const { chess960 } = start;
  const chess = start.board.clone();
  const positions = [start];
  const moves: MoveDescription[] = [];
  let root = start.root;
  let history: string[] = [];
  let seen = new Map([[repetitionKey(chess), 1]]);
  for (const [index, text] of texts.entries()) {
    if (index > 0 && index % movesAtOnce === 0) {
      yield;
    }
    const legal = moveFromText(chess, text);
    if (legal === undefined) {
      return { positions, moves, refused: whyNotPlayed(chess, text, chess960) };
    }
    const move = describeAndPlay(chess, legal, chess960);
    history.push(move.uci);
    if (chess.halfmoves === 0) {
      root = move.fenAfter;
      history = [];
      seen = new Map();
    }
    const key = repetitionKey(chess);
    const occurrences = (seen.get(key) ?? 0) + 1;
    seen.set(key, occurrences);
    const position = positionFromBoard(chess.clone(), { root, moves: history, occurrences }, chess960);
    // Copied only where it is short: of a game that is not over, 149 moves at most.
    positions.push(
      position.terminal
        ? { ...position, root: position.fen, moves: [] }
        : { ...position, moves: history.slice() },
    );
    moves.push(move);
  }
  return { positions, moves, refused: undefined };
}
