import type { Chess } from "chessops/chess";

export type Color = "white" | "black";

/** A valid position, ready for an engine. */
export interface Position {
  /** The FEN after `moves`, in normal form with six fields. */
  readonly fen: string;
  /** The FEN after the last capture or pawn move, or at the start. Equals `fen` if there are no moves. */
  readonly root: string;
  /** The moves from `root` to `fen` in UCI. Castling is e1g1 in standard chess and e1h1 in Chess960, as engines expect. */
  readonly moves: readonly string[];
  readonly turn: Color;
  readonly chess960: boolean;
  readonly legalMoveCount: number;
  /** The end of the game by the rules of chess; no engine decides this. */
  readonly terminal: Terminal | undefined;
  /** The draw that the side to move can claim. Undefined if the game is over. */
  readonly drawClaim: DrawClaim | undefined;
  readonly warnings: readonly Warning[];
  /** Clone the board before you play a move on it. */
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
  /** The winner; undefined after a draw. */
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
  /** The index of a move, from 0; set only if `field` is `moves`. */
  readonly index?: number;
  readonly message: string;
  /** The offset of `token` in the FEN as it was sent, in UTF-16 units. Set if `field` is `fen`. */
  readonly offset?: number;
  /** The wrong part of the FEN; empty at the end of a FEN that is too short. */
  readonly token?: string;
}

export interface PositionInput {
  /** The FEN, X-FEN or Shredder-FEN as the client wrote it. */
  readonly fen: string;
  /** The moves are in UCI or SAN. */
  readonly moves: readonly string[];
  /** True for Chess960. A Shredder-FEN is read as Chess960 even if this is false. */
  readonly chess960: boolean;
}

export type SuggestedPosition = Partial<Pick<PositionInput, "fen" | "moves">>;

/** Violations are in the order of the input. The position is valid with the fields of `suggested`. */
export type Validation =
  | { readonly kind: "position"; readonly position: Position }
  | {
      readonly kind: "violations";
      readonly violations: readonly PositionViolation[];
      readonly suggested?: SuggestedPosition;
    };
