import type { Call, Plain } from "../protocol.ts";

/** One call, asked through every protocol. */
export type Case = AnswerCase | RefusalCase;

interface CommonCase {
  /** A promise: "gives the mate in moves, negative when Black mates". */
  readonly name: string;
  readonly call: Call;
  readonly request: Plain;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AnswerCase extends CommonCase {
  readonly kind: "answer";
  /** The required part of the answer, as plain JSON. */
  readonly answer: Plain;
  /** Fields that must be null, or absent if the protocol has no null. */
  readonly absent?: readonly string[];
  /** Codes of exactly the warnings that there are. None by default. */
  readonly warnings?: readonly string[];
}

export interface RefusalCase extends CommonCase {
  readonly kind: "refusal";
  readonly code: string;
  readonly nextAction: string;
  /** A request that would be answered. Its action is then to send that. */
  readonly suggestion?: Plain;
  /** The pointers of the violations, in their order. */
  readonly pointers: readonly string[];
  /** Plain JSON has no way to ask this. */
  readonly rpcOnly?: true;
}

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** White mates in one, so that an engine searches many plies of it at once. */
export const mateFen = "3k4/1R6/8/8/8/8/8/4K2R w - - 0 1";
