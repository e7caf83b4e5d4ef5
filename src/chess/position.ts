import type { Chess } from "chessops/chess";

export type Color = "white" | "black";

/**
 * A valid position, ready for an engine: its FEN was read, checked by the rules of chess, and written in normal form.
 */
export interface Position {
  /** Normal six-field FEN of the position analysed, after `moves`. */
  readonly fen: string;
  /**
   * Normal FEN of the start of the history: after the last capture or pawn move, because no earlier position can be
   * repeated, or the start of the game. Equals `fen` if there are no moves.
   */
  readonly root: string;
  /** UCI moves from `root` to `fen`, castling as an engine in the right mode expects it: e1g1, in Chess960 e1h1. */
  readonly moves: readonly string[];
  readonly turn: Color;
  readonly chess960: boolean;
  readonly legalMoveCount: number;
  /** Set if the game is over by the rules of chess. No engine decides this. */
  readonly terminal: Terminal | undefined;
  /** Undefined if the game is over. */
  readonly drawClaim: DrawClaim | undefined;
  /** Corrections of the input, and cautions about the answer. */
  readonly warnings: readonly Warning[];
  /** The position in chessops, for the notation of moves inside `chess/`. No move is played on it. */
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
  /** Undefined for every draw. */
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

export interface PositionFault {
  readonly code: "invalid_fen" | "illegal_position" | "illegal_move";
  readonly field: "fen" | "moves";
  /** Index of the move, from 0; set only if `field` is `moves`. */
  readonly index?: number;
  readonly message: string;
  /** The place of `token` in the FEN as it was sent, in UTF-16 units, from 0. Set if `field` is `fen`. */
  readonly offset?: number;
  /** The part of the FEN at `offset`; empty at the end of a FEN that is too short. */
  readonly token?: string;
}

export interface PositionInput {
  /** FEN, X-FEN or Shredder-FEN as the caller wrote it. */
  readonly fen: string;
  /** Moves played from `fen`, UCI or SAN. */
  readonly moves: readonly string[];
  /** True if the caller asks for Chess960; a Shredder-FEN is Chess960 anyway. */
  readonly chess960: boolean;
}

/** Fields that a request would have instead of those that were refused. */
export type SuggestedPosition = Partial<Pick<PositionInput, "fen" | "moves">>;

/** Faults come in the order of reading. `suggested` is set if the position is valid with these fields. */
export type Validation =
  | { readonly kind: "position"; readonly position: Position }
  | {
      readonly kind: "faults";
      readonly faults: readonly PositionFault[];
      readonly suggested?: SuggestedPosition;
    };
