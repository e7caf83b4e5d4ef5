import { inOneGo } from "../../../src/chess/in-one-go.ts";
import type { MoveDescription } from "../../../src/chess/moves.ts";
import { playGame } from "../../../src/chess/play-game.ts";
import type { Position, PositionFault, Warning } from "../../../src/chess/position.ts";
import { validatePosition } from "../../../src/chess/validate-position.ts";

/** A position and the moves that were played from it. */
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
      readonly suggestedFen: string | undefined;
    };

/** The most moves that are played from a position: as many as the service takes. */
const movesMax = 600;

/** Reads a FEN and moves in UCI or SAN by the rules of the service itself, so that faults are told in the same words. */
export function readPlay(fen: string, moves: readonly string[]): PlayReading {
  const start = validateStart(fen);
  if (start.kind === "faults") {
    return { kind: "faults", faults: start.faults, suggestedFen: start.suggestedFen };
  }
  const { position } = start;
  const positions = [position];
  const { moves: played, refused } = inOneGo(
    playGame(position, moves.slice(0, movesMax), (after) => positions.push(after)),
  );
  return {
    kind: "play",
    play: { positions, moves: played, warnings: position.warnings, refused: faultOf(refused) },
  };

  function faultOf(why: string | undefined): PositionFault | undefined {
    const index = played.length;
    return why === undefined
      ? undefined
      : { code: "illegal_move", field: "moves", index, message: `'${moves[index]}' ${why}.` };
  }
}

/**
 * Castling rights of `KQkq` that only Chess960 explains are taken for such (X-FEN); the service wants to be told so, by file
 * letters, which the position's own FEN has.
 */
function validateStart(fen: string) {
  const standard = validatePosition({ fen, moves: [], chess960: false });
  if (standard.kind === "position" && !losesRights(standard.position)) {
    return standard;
  }
  const chess960 = validatePosition({ fen, moves: [], chess960: true });
  return chess960.kind === "position" && !losesRights(chess960.position) ? chess960 : standard;
}

function losesRights({ warnings }: Position): boolean {
  return warnings.some(({ code }) => code === "castling_rights_removed");
}
