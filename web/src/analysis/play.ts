import type { MoveDescription } from "../../../src/chess/moves.ts";
import type { Position, PositionFault, Warning } from "../../../src/chess/position.ts";
import { gameFromFen, mainlineOf } from "../game/game.ts";

/** A position and the moves that were played from it: `web/src/game/` in its former form. */
export interface Play {
  /** The start, and the position after each move. */
  readonly positions: readonly Position[];
  readonly moves: readonly MoveDescription[];
  /** The corrections of the FEN. */
  readonly warnings: readonly Warning[];
  /** The error of the first move that is not legal. It and the moves after it are not played. */
  readonly refused: PositionFault | undefined;
}

export type PlayReading =
  | { readonly kind: "play"; readonly play: Play }
  | {
      readonly kind: "faults";
      readonly faults: readonly PositionFault[];
      readonly suggestedFen?: string | undefined;
    };

export function readPlay(fen: string, moves: readonly string[]): PlayReading {
  const reading = gameFromFen(fen, moves);
  if (reading.kind === "faults") {
    return reading;
  }
  const nodes = mainlineOf(reading.game);
  return {
    kind: "play",
    play: {
      positions: nodes.map(({ position }) => position),
      moves: nodes.flatMap(({ move }) => move ?? []),
      warnings: reading.game.warnings,
      refused: reading.refused,
    },
  };
}
