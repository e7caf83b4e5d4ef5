import { Chess } from "chessops/chess";
import { makeFen, parseFen } from "chessops/fen";
import { isNormal, type SquareName } from "chessops/types";
import { makeSquare, parseSquare, parseUci } from "chessops/util";
import type { MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { PlayedGame } from "./played-game.ts";

/** A position to show: after a ply of the game, or in the best line that begins there. */
export interface Place {
  /** 0 for the start. */
  readonly ply: number;
  /** How many moves of the line that the engine would have played in the place of this ply; 0 for the game itself. */
  readonly step: number;
}

/** A move as a board shows it. */
export interface ShownMove {
  readonly from: SquareName;
  readonly to: SquareName;
}

/** The position before a ply, 1 for the first move. */
export function fenBefore({ startFen, moves }: PlayedGame, ply: number): string {
  return moves[ply - 2]?.fen ?? startFen;
}

/** The position at a place, and the move that led there. */
export function positionAt(
  game: PlayedGame,
  explained: readonly MoveReview[],
  { ply, step }: Place,
): { readonly fen: string; readonly move: ShownMove | undefined } {
  if (step > 0) {
    return playedLine(fenBefore(game, ply), explained[ply - 1]?.best?.moves.slice(0, step) ?? []);
  }
  const move = game.moves[ply - 1];
  return { fen: move?.fen ?? game.startFen, move };
}

/** The moves that lead to a place from the start of the game, in SAN. */
export function movesTo(
  { moves }: PlayedGame,
  explained: readonly MoveReview[],
  { ply, step }: Place,
): readonly string[] {
  const sans = moves.map(({ san }) => san);
  return step === 0
    ? sans.slice(0, ply)
    : [...sans.slice(0, ply - 1), ...(explained[ply - 1]?.best?.san.slice(0, step) ?? [])];
}

/** Plays moves in UCI, which the service says are legal; what is not ends the line. */
function playedLine(fen: string, ucis: readonly string[]) {
  let move: ShownMove | undefined;
  const position = parseFen(fen)
    .chain((setup) => Chess.fromSetup(setup))
    .unwrap(
      (read) => read,
      () => undefined,
    );
  if (position === undefined) {
    return { fen, move };
  }
  for (const uci of ucis) {
    const parsed = parseUci(uci);
    if (parsed === undefined || !isNormal(parsed) || !position.isLegal(parsed)) {
      break;
    }
    position.play(parsed);
    move = { from: makeSquare(parsed.from), to: makeSquare(parsed.to) };
  }
  return { fen: makeFen(position.toSetup()), move };
}

/** Returns the place that a key moves to; undefined for keys that do not move. */
export function placeByKey(
  key: string,
  { ply, step }: Place,
  plies: number,
  lineLength: number,
): Place | undefined {
  switch (key) {
    case "ArrowLeft":
      return step > 0 ? { ply, step: step - 1 } : { ply: Math.max(0, ply - 1), step: 0 };
    case "ArrowRight":
      return step > 0
        ? { ply, step: Math.min(lineLength, step + 1) }
        : { ply: Math.min(plies, ply + 1), step: 0 };
    case "Home":
      return { ply: 0, step: 0 };
    case "End":
      return { ply: plies, step: 0 };
    default:
      return undefined;
  }
}

/** The move that the engine would have played in the place of another one; undefined where it is the same or nobody knows. */
export function missedMove(reviewed: MoveReview | undefined): ShownMove | undefined {
  const best = reviewed?.best?.move;
  if (best === undefined || best.uci === reviewed?.move?.uci) {
    return undefined;
  }
  const [from, to] = [parseSquare(best.from), parseSquare(best.to)];
  return from === undefined || to === undefined ? undefined : { from: makeSquare(from), to: makeSquare(to) };
}
