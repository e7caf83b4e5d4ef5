import type { Chess } from "chessops/chess";

export type Color = "white" | "black";

/** A valid position, ready for an engine. Its FEN has been read, checked by the rules of chess, and written in normal form. */
export interface Position {
  /** The FEN of the position after `moves`, in normal form with six fields. */
  readonly fen: string;
  /**
   * The FEN, in normal form, of the position from which `moves` are played: after the last capture or pawn move, because no
   * earlier position can be repeated, or at the start of the game. Equals `fen` if there are no moves.
   */
  readonly root: string;
  /** The moves in UCI from `root` to `fen`. Castling is e1g1 in standard chess and e1h1 in Chess960, as engines expect. */
  readonly moves: readonly string[];
  readonly turn: Color;
  readonly chess960: boolean;
  readonly legalMoveCount: number;
  /**
   * The reason why the game is over by the rules of chess, and its result; undefined if it is not over. No engine decides this.
   */
  readonly terminal: Terminal | undefined;
  /** The draw that the side to move can claim; undefined if there is none, or if the game is over. */
  readonly drawClaim: DrawClaim | undefined;
  /** Warnings about corrections of the input, and about limits of the answer. */
  readonly warnings: readonly Warning[];
  /** The board in chessops, for the notation of moves inside `chess/`. Clone it before you play a move. */
  readonly board: Chess;
}

export type TerminalReason =
  | "checkmate"
  | "stalemate"
  | "insufficient_material"
  | "seventyfive_moves"
  | "fivefold_repetition";

export interface Terminal {
  readonly reason: TerminalReason;
  /** The side that won; undefined if the game is a draw. */
  readonly winner: Color | undefined;
  readonly result: "1-0" | "0-1" | "1/2-1/2";
}

export type DrawClaim = "fifty_moves" | "threefold_repetition";

type WarningCode =
  | "castling_rights_removed"
  | "ep_square_removed"
  | "clocks_defaulted"
  | "no_history"
  | "fifty_move_horizon"
  | "pgn_corrected";

export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  readonly field: "fen" | "moves" | "pgn";
}

export interface PositionViolation {
  readonly code: "invalid_fen" | "illegal_position" | "illegal_move";
  readonly field: "fen" | "moves";
  /** The index of the move in `moves`, from 0; set only if `field` is `moves`. */
  readonly index?: number;
  readonly message: string;
  /** The offset of `token` in the FEN as it was sent, in UTF-16 units, from 0. Set if `field` is `fen`. */
  readonly offset?: number;
  /** The part of the FEN at `offset`. It is empty at the end of a FEN that is too short. */
  readonly token?: string;
}

export interface PositionInput {
  /** The FEN, X-FEN or Shredder-FEN as the client wrote it. */
  readonly fen: string;
  /** The moves played from `fen`, in UCI or SAN. */
  readonly moves: readonly string[];
  /** True if the client asks for Chess960. A Shredder-FEN is read as Chess960 even if this is false. */
  readonly chess960: boolean;
}

/** Corrected fields of a request, to replace the invalid fields. */
export type SuggestedPosition = Partial<Pick<PositionInput, "fen" | "moves">>;

/**
 * The result of validating a position. Errors are in the order in which the input was read. `suggested` is set if the position is
 * valid with these fields.
 */
export type Validation =
  | { readonly kind: "position"; readonly position: Position }
  | {
      readonly kind: "violations";
      readonly violations: readonly PositionViolation[];
      readonly suggested?: SuggestedPosition;
    };
