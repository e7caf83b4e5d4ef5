import type { Chess } from "chessops/chess";

export type Color = "white" | "black";

export interface Position {
  /** The FEN after `moves`. The FEN is normalized. */
  readonly fen: string;
  /** The FEN after the last capture or pawn move, or at the start of the game. */
  readonly root: string;
  /** The moves from `root` to `fen`, in UCI. Castling is e1g1 in standard chess and e1h1 in Chess960, as engines expect. */
  readonly moves: readonly string[];
  readonly turn: Color;
  readonly chess960: boolean;
  readonly legalMoveCount: number;
  /** Undefined if the game is not over. */
  readonly terminal: Terminal | undefined;
  /** The draw that the side to move can claim. Undefined if no draw can be claimed, or if the game is over. */
  readonly drawClaim: DrawClaim | undefined;
  readonly warnings: readonly Warning[];
  /** Never play a move on this board: clone the board first. */
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
  readonly winner: Color | undefined;
  readonly result: "1-0" | "0-1" | "1/2-1/2";
}

export type DrawClaim = "fifty_moves" | "threefold_repetition";

type WarningCode =
  | "castling_rights_removed"
  | "chess960_assumed"
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
  readonly index?: number;
  readonly message: string;
  /** The distance from the beginning of the client's FEN, in UTF-16 units. */
  readonly offset?: number;
  /** The wrong part of the FEN. Empty if the FEN ends too early. */
  readonly token?: string;
}

export interface PositionInput {
  /** A FEN, X-FEN or Shredder-FEN, as the client wrote it. */
  readonly fen: string;
  readonly moves: readonly string[];
  /**
   * If false, castling rights that do not fit standard chess are removed, but a Shredder-FEN is nevertheless read as Chess960. If
   * undefined, the castling rights and the castling moves decide.
   */
  readonly chess960: boolean | undefined;
}

export type SuggestedPosition = Partial<Pick<PositionInput, "fen" | "moves">>;

/** The violations have the order of the input. `suggested` has valid values for the invalid fields. */
export type Validation =
  | { readonly kind: "position"; readonly position: Position }
  | {
      readonly kind: "violations";
      readonly violations: readonly PositionViolation[];
      readonly suggested?: SuggestedPosition;
    };
