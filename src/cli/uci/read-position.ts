import type { Position } from "../../chess/position.ts";
import { validatePosition } from "../../chess/validate-position.ts";

/** A valid position, or the reasons why it is invalid. Notes are for the user. */
type PositionReading =
  | { readonly kind: "position"; readonly position: Position; readonly notes: readonly string[] }
  | { readonly kind: "refused"; readonly notes: readonly string[] };

/** @param chess960 value of the option; a Shredder-FEN is Chess960 without it */
export function readPosition(fen: string, moves: readonly string[], chess960: boolean): PositionReading {
  const judgement = validatePosition({ fen, moves, chess960 });
  if (judgement.kind === "faults") {
    return { kind: "refused", notes: judgement.faults.map(({ message }) => message) };
  }
  const { position } = judgement;
  const shown = position.warnings.filter(
    ({ code }) => code !== "no_history" && code !== "fifty_move_horizon",
  );
  const notes = [
    ...shown.map(({ message }) => message),
    ...(position.chess960 && !chess960
      ? ["the FEN is one of Chess960, so castling is written as king takes rook, as with UCI_Chess960"]
      : []),
  ];
  return { kind: "position", position, notes };
}
