import { INITIAL_FEN, makeFen } from "chessops/fen";
import { parsePgn, startingPosition } from "chessops/pgn";
import { makeSanAndPlay, parseSan } from "chessops/san";
import { isNormal, type SquareName } from "chessops/types";
import { makeSquare, parseSquare } from "chessops/util";
import type { GameReview, MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";

/** A move as it was played. */
export interface PlayedMove {
  readonly san: string;
  readonly from: SquareName;
  readonly to: SquareName;
  /** The position after it. */
  readonly fen: string;
}

/** A game as far as the page can play it itself, to show it before the service has said anything. */
export interface PlayedGame {
  readonly tags: ReadonlyMap<string, string>;
  readonly startFen: string;
  readonly moves: readonly PlayedMove[];
  /** True if all moves of the text were read, and there is one at least. Then the service hardly refuses the game. */
  readonly isWhole: boolean;
}

/**
 * Plays the first game of a text, leniently: up to the first move that is not legal. What is wrong with a text is for the
 * service to say, which reads strictly; without moves where nothing of it can be shown.
 */
export function playedGame(text: string): PlayedGame {
  const [game] = parsePgn(text, () => new Map());
  if (game === undefined) {
    return { tags: new Map(), startFen: INITIAL_FEN, moves: [], isWhole: false };
  }
  const start = startingPosition(game.headers);
  if (start.isErr) {
    return { tags: game.headers, startFen: INITIAL_FEN, moves: [], isWhole: false };
  }
  const position = start.value;
  const startFen = makeFen(position.toSetup());
  const moves: PlayedMove[] = [];
  const written = [...game.moves.mainline()];
  for (const { san } of written) {
    const move = parseSan(position, san);
    if (move === undefined || !isNormal(move)) {
      break;
    }
    moves.push({
      san: makeSanAndPlay(position, move),
      from: makeSquare(move.from),
      to: makeSquare(move.to),
      fen: makeFen(position.toSetup()),
    });
  }
  const isWhole = moves.length === written.length && moves.length > 0;
  return { tags: game.headers, startFen, moves, isWhole };
}

/** The game with what the service says of it, which has read it strictly. */
export function withExplained(
  played: PlayedGame,
  review: GameReview | undefined,
  explained: readonly MoveReview[],
): PlayedGame {
  const known = explained.flatMap(({ move }) => {
    const [from, to] = [squareName(move?.from), squareName(move?.to)];
    return move && from && to ? [{ san: move.san, from, to, fen: move.fenAfter }] : [];
  });
  return {
    tags: review ? new Map(Object.entries(review.tags)) : played.tags,
    startFen: review?.startFen ?? played.startFen,
    moves: [...known, ...played.moves.slice(known.length)],
    isWhole: played.isWhole,
  };
}

function squareName(text = ""): SquareName | undefined {
  const square = parseSquare(text);
  return square === undefined ? undefined : makeSquare(square);
}
