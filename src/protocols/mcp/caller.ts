import type { DescMethod } from "@bufbuild/protobuf";

/** A JSON object. */
export type Plain = Readonly<Record<string, unknown>>;

/** Where a game has come to: its start, and the moves played from there. */
export interface PlayedMoves {
  /** FEN, or `startpos`. */
  readonly fen: string;
  /** UCI or SAN. */
  readonly moves: readonly string[];
}

/** A move as people write it, and as programs do. */
export interface MoveName {
  readonly san: string;
  readonly uci: string;
}

/** How a game has ended. */
export interface GameOver {
  readonly reason: string;
  readonly winner?: "white" | "black" | undefined;
  readonly result: string;
}

/** A position as the rules of chess see it. */
export interface PlayedPosition {
  readonly fen: string;
  readonly turn: "white" | "black";
  /** The moves that led to it. */
  readonly played: readonly MoveName[];
  /** In alphabetical order. */
  readonly legal: readonly MoveName[];
  readonly check: boolean;
  readonly terminal: GameOver | undefined;
  readonly drawClaim: string | undefined;
  readonly warnings: readonly string[];
}

/**
 * Who answers one call of a tool: the service, as it answers that caller through every other door. Requests and answers
 * are plain JSON, as `/v1` has them. All of it rejects with KibitzErrors.
 */
export interface Caller {
  /** A call with one answer. */
  once(method: DescMethod, request: Plain): Promise<unknown>;
  /** A call with a stream of messages. Of each, one field is set. @param leaveOut fields in it that come empty */
  stream(method: DescMethod, request: Plain, leaveOut?: readonly string[]): AsyncIterable<unknown>;
  /** Resolves where such a call would be answered, as far as that is known before it is counted. */
  judge(method: DescMethod, request: Plain): Promise<void>;
  /** Resolves where the fields of such a request have values that it may have; nothing of them is played. */
  check(method: DescMethod, request: Plain): Promise<void>;
  /** Plays moves by the rules of chess, which counts as a request. */
  play(from: PlayedMoves): Promise<PlayedPosition>;
  /** {@link play} as a part of a call that is counted, or refused. */
  look(from: PlayedMoves): Promise<PlayedPosition>;
  /**
   * The moves of a game in PGN, for a call that is counted later. If the caller's window is used up, nothing is read.
   *
   * @param ply how many of them; all if undefined
   */
  readGame(pgn: string, ply: number | undefined): Promise<PlayedMoves>;
  /** {@link readGame} as a part of a call that is counted, or refused: all moves. */
  lookThrough(pgn: string): Promise<PlayedMoves>;
}
