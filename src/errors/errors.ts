import { withoutKeys } from "../text/plain-text.ts";
import { type ErrorCode, errorKind, type NextAction } from "./catalog.ts";

/** A part of a request that is invalid. */
export interface Violation {
  /** JSON Pointer (RFC 6901) to the invalid value, or to the place where a missing field belongs. */
  readonly pointer: string;
  /** `over_plan_limit` occurs only in `upgrade_needed` errors. */
  readonly code: ErrorCode | "over_plan_limit";
  readonly message: string;
  /** The allowed values, as a JSON Schema fragment. */
  readonly allowed?: Readonly<Record<string, unknown>>;
  readonly place?: Place;
  /** Replacements for fields of the request that fix the violation, for the suggested request. */
  readonly instead?: Readonly<Record<string, unknown>>;
  /** The known key that an unknown key probably stands for. */
  readonly meant?: string;
}

/** A place in a FEN, in a list of moves or in the text of a game. */
interface Place {
  /** The text at this place: at most 64 characters, empty at the end of the text. */
  readonly token: string;
  /** Number of the wrong or missing move in the main line of a game, from 1. */
  readonly ply?: number;
  /** Offset from the beginning of a FEN or PGN, in UTF-16 units. */
  readonly offset?: number;
  /** Line in a PGN, from 1. */
  readonly line?: number;
  /** Column in a PGN, from 1, in UTF-16 units. */
  readonly column?: number;
  /** Number of the game, from 1, if the file has several. */
  readonly game?: number;
  /** FEN of the position before an illegal move. */
  readonly fen?: string;
}

/** The maximum number of violations that one error reports. */
export const violationsMax = 20;

interface KibitzErrorOptions {
  readonly violations?: readonly Violation[];
  /** Replaces the next action of the catalog. */
  readonly nextAction?: NextAction;
  readonly retryAfterMs?: number;
  /** A similar request, as plain JSON, that would be answered. */
  readonly suggestedRequest?: Readonly<Record<string, unknown>>;
  readonly upgrade?: { readonly plan: string; readonly url: string };
  /** The plan and its exceeded limit, such as `keyless/minute`. */
  readonly quota?: string;
  /** The underlying error, only for the log. */
  readonly cause?: unknown;
}

/** The only error thrown on purpose. Every other thrown value becomes `internal`. */
export class KibitzError extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  readonly nextAction: NextAction;
  readonly retryAfterMs: number | undefined;
  readonly suggestedRequest: Readonly<Record<string, unknown>> | undefined;
  readonly upgrade: { readonly plan: string; readonly url: string } | undefined;
  readonly quota: string | undefined;
  /** The number of times that this error counts in the caller's error quota. */
  cost: number;

  constructor(code: ErrorCode, detail: string, options: KibitzErrorOptions = {}) {
    // Capturing a stack trace is slower than most checks, and an internal error has that of its cause.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(withoutKeys(detail), options.cause === undefined ? {} : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "KibitzError";
    this.code = code;
    this.violations = (options.violations ?? []).slice(0, violationsMax).map(withoutKeysIn);
    this.nextAction =
      options.nextAction ??
      (options.suggestedRequest ? "send_suggested_request" : errorKind(code).nextAction);
    this.retryAfterMs = options.retryAfterMs;
    this.suggestedRequest = options.suggestedRequest;
    this.upgrade = options.upgrade;
    this.quota = options.quota;
    this.cost = 1;
  }

  get retryable(): boolean {
    return this.nextAction === "retry_later" || this.nextAction === "retry_now";
  }
}

/** The maximum cost of one error: a few expensive errors must not use up the error quota. */
const costMax = 20;

/** Raises the cost of an error that took as much work as `cost` cheap checks. Returns the same error. */
export function withCost(error: KibitzError, cost: number): KibitzError {
  error.cost = Math.min(Math.max(error.cost, Math.floor(cost)), costMax);
  return error;
}

/** The bytes that cost one unit if they were read in vain. */
const bytesForOne = 8 * 1024;

export function costOfBytes(count: number): number {
  return Math.min(Math.floor(1 + count / bytesForOne), costMax);
}

/** The moves that cost one unit if they were played in vain. */
const movesForOne = 50;

export function costOfMoves(count: number): number {
  return 1 + count / movesForOne;
}

/** Creates an error with the code of the first violation. Throws a TypeError if there is none. */
export function errorFromViolations(
  violations: readonly Violation[],
  options: Omit<KibitzErrorOptions, "violations"> = {},
): KibitzError {
  const [first] = violations;
  if (first === undefined || first.code === "over_plan_limit") {
    throw new TypeError("errorFromViolations needs a violation that has an error of its own");
  }
  const others = violations.length - 1;
  // Validation stops at this number, so there may be more.
  const count = violations.length < violationsMax ? `are ${others}` : `are at least ${violationsMax - 1}`;
  const more = others === 0 ? "" : others === 1 ? " There is 1 more fault." : ` There ${count} more faults.`;
  return new KibitzError(first.code, `${first.message}${more}`, { ...options, violations });
}

/** Throws a KibitzError if there are any violations. */
export function refuseViolations(violations: readonly Violation[]): void {
  if (violations.length > 0) {
    throw errorFromViolations(violations);
  }
}

/** Returns a KibitzError as it is. Any other value becomes the cause of an `internal` error. */
export function errorFromUnknown(thrown: unknown): KibitzError {
  return thrown instanceof KibitzError
    ? thrown
    : new KibitzError("internal", "Something failed inside the service.", { cause: thrown });
}

function withoutKeysIn(violation: Violation): Violation {
  const { pointer, message, place } = violation;
  return {
    ...violation,
    pointer: withoutKeys(pointer),
    message: withoutKeys(message),
    ...(place && { place: { ...place, token: withoutKeys(place.token) } }),
  };
}
