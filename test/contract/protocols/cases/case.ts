import { requestBounds } from "../../../../src/analysis/analysis.ts";
import type { Call, Plain } from "../protocol.ts";

export const defaultDepth = requestBounds.depth.default;

/** The limits in the answer to a request without limits. */
export const defaultLimits = {
  depth: defaultDepth,
  multipv: 1,
  movetime_ms: null,
  options: {},
  nodes: null,
  search_moves: [],
};

/** A call and the expected result. The result must be the same over every protocol. */
export type Case = AnswerCase | RefusalCase;

interface CommonCase {
  readonly name: string;
  readonly call: Call;
  readonly request: Plain;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AnswerCase extends CommonCase {
  readonly kind: "answer";
  /** The fields that the answer must have. Other fields are not compared. */
  readonly answer: Plain;
  /** Fields that must be null or absent. */
  readonly absent?: readonly string[];
  /** The codes of all warnings, in any order. Default: no warnings. */
  readonly warnings?: readonly string[];
}

export interface RefusalCase extends CommonCase {
  readonly kind: "refusal";
  readonly code: string;
  readonly nextAction: string;
  /** The corrected request that the error suggests. The tests also send this corrected request and expect success. */
  readonly suggestion?: Plain;
  readonly pointers: readonly string[];
  readonly rpcOnly?: true;
}

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** White mates in one, so an engine completes many depths immediately. */
export const mateFen = "3k4/1R6/8/8/8/8/8/4K2R w - - 0 1";
