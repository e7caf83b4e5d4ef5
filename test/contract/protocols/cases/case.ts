import type { Call, Plain } from "../protocol.ts";

/** One call with its expected result, made over every protocol. */
export type Case = AnswerCase | RefusalCase;

interface CommonCase {
  /** The promise that the case proves, such as "gives the mate in moves, negative when Black mates". */
  readonly name: string;
  readonly call: Call;
  readonly request: Plain;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AnswerCase extends CommonCase {
  readonly kind: "answer";
  /** The required part of the answer, as plain JSON. */
  readonly answer: Plain;
  /** The names of fields that must be null, or absent if the protocol has no null. */
  readonly absent?: readonly string[];
  /** The codes of all expected warnings, in any order. None by default. */
  readonly warnings?: readonly string[];
}

export interface RefusalCase extends CommonCase {
  readonly kind: "refusal";
  readonly code: string;
  readonly nextAction: string;
  /** The suggested request, if there is one, which must itself succeed. */
  readonly suggestion?: Plain;
  /** The JSON Pointers of the violations, in order. */
  readonly pointers: readonly string[];
  /** True if plain JSON cannot express the request. */
  readonly rpcOnly?: true;
}

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** A position in which White mates in one, so an engine searches many plies of it at once. */
export const mateFen = "3k4/1R6/8/8/8/8/8/4K2R w - - 0 1";
