import type { MoveName } from "../chess/legal-moves.ts";
import type { Position } from "../chess/position.ts";
import type { Call } from "./call.ts";

export type { MoveName };

/** A start position, and the moves played from it. */
export interface PlayedMoves {
  /** FEN, or `startpos`. */
  readonly fen: string;
  /** UCI or SAN. */
  readonly moves: readonly string[];
}

/** A position by the rules of chess, without an engine. */
export interface PlayedPosition
  extends Pick<Position, "fen" | "turn" | "chess960" | "terminal" | "drawClaim"> {
  /** The moves that led to it. */
  readonly played: readonly MoveName[];
  /** In the alphabetical order of SAN. */
  readonly legal: readonly MoveName[];
  readonly check: boolean;
  /** How the FEN was fixed, and remarks on the position. */
  readonly warnings: readonly string[];
}

/** The part of a call by which a request is counted. */
type Counted = Pick<Call, "account" | "outcome">;

/** Answers questions by the rules of chess alone. */
export interface Rulebook {
  /**
   * Plays moves.
   *
   * @param check as in `BeginWork`
   * @param counted counts the moves as a request of this caller. If the caller's window is used up, nothing is played. Without it, the
   * moves belong to a call that is counted elsewhere
   * @throws KibitzError `invalid_fen`, `illegal_position`, `illegal_move` for the fields `fen` and `moves`; the errors of the caller's
   * limits
   */
  play(from: PlayedMoves, check?: () => void, counted?: Counted): Promise<PlayedPosition>;
  /**
   * The moves of one game in PGN.
   *
   * @param ply how many of its moves, from 0; all if undefined
   * @param counted a call that is counted later. If the caller's window is used up, nothing is read
   * @throws KibitzError for the fields `pgn` and `ply`; the errors of the caller's limits
   */
  readGame(pgn: string, ply: number | undefined, check?: () => void, counted?: Counted): Promise<PlayedMoves>;
}
