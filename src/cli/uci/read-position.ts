import { judgePosition } from "../../chess/judge-position.ts";
import { playGame } from "../../chess/play-game.ts";
import type { Position } from "../../chess/position.ts";
import { inOneGo } from "../../thread/event-loop.ts";

/** A position that can be asked about, or why there is none. Both with what to tell of it. */
type PositionReading =
  | { readonly kind: "position"; readonly position: Position; readonly notes: readonly string[] }
  | { readonly kind: "refused"; readonly notes: readonly string[] };

/** Moves that a question may have; a longer game is asked about by its end, where all that still counts is. */
const movesMax = 600;

/** @param chess960 as the option says; a Shredder-FEN is Chess960 without. */
export function readPosition(fen: string, moves: readonly string[], chess960: boolean): PositionReading {
  const judgement = judgePosition({ fen, moves, chess960 });
  if (judgement.kind === "faults") {
    return { kind: "refused", notes: judgement.faults.map(({ message }) => message) };
  }
  const { position } = judgement;
  const told = position.warnings.filter(({ code }) => code !== "no_history" && code !== "fifty_move_horizon");
  const notes = [
    ...told.map(({ message }) => message),
    ...(position.chess960 && !chess960
      ? ["the FEN is one of Chess960, so castling is written as king takes rook, as with UCI_Chess960"]
      : []),
  ];
  return { kind: "position", position: moves.length > movesMax ? endOf(fen, position) : position, notes };
}

/** The same position, whose history begins after the last capture or pawn move. */
function endOf(fen: string, { moves, chess960, ...position }: Position): Position {
  const start = judgePosition({ fen, moves: [], chess960 });
  const played =
    start.kind === "position" ? inOneGo(playGame(start.position, moves)).positions.at(-1) : undefined;
  return { ...position, chess960, moves, ...(played && { root: played.root, moves: played.moves }) };
}
