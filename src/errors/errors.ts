import { withoutKeys } from "../text/plain-text.ts";
import { type ErrorCode, errorKind, type NextAction } from "./catalogue.ts";

/** One violation: a part of a request that is invalid. */
export interface Violation {
  /** JSON Pointer (RFC 6901) to the invalid value. For a missing field, the pointer that the field would have. */
  readonly pointer: string;
  /** Error code of the violation. `over_plan_limit` occurs only in `upgrade_needed` errors. */
  readonly code: ErrorCode | "over_plan_limit";
  readonly message: string;
  /** The allowed values, as a JSON Schema fragment. */
  readonly allowed?: Readonly<Record<string, unknown>>;
  /** Place of the violation within the value. */
  readonly place?: Place;
  /** Fields to replace in the request so that the violation goes away. They are used for the suggested request. */
  readonly instead?: Readonly<Record<string, unknown>>;
  /** The known key that an unknown key probably stands for. */
  readonly meant?: string;
}

/** A place in a FEN, in a list of moves or in the text of a game. */
interface Place {
  /** The text at this place, at most 64 characters. Empty at the end of the text. */
  readonly token: string;
  /** Number of the wrong or missing move in the main line of a game, from 1. */
  readonly ply?: number;
  /** Offset from the beginning of a FEN or PGN, in UTF-16 units. */
  readonly offset?: number;
  /** Line in a PGN, from 1. */
  readonly line?: number;
  /** Column in a PGN, from 1, in UTF-16 units. */
  readonly column?: number;
  /** Number of the game in its file, from 1. Set only if the file has several games. */
  readonly game?: number;
  /** FEN of the position before an illegal move. */
  readonly fen?: string;
}

/** The maximum number of violations that one error reports. */
export const violationsMax = 20;

interface KibitzErrorOptions {
  readonly violations?: readonly Violation[];
  /** Next action for this error, in place of the one in the catalogue. */
  readonly nextAction?: NextAction;
  /** Time until a retry makes sense, in milliseconds. */
  readonly retryAfterMs?: number;
  /** A similar request, as plain JSON, that would be answered. */
  readonly suggestedRequest?: Readonly<Record<string, unknown>>;
  readonly upgrade?: { readonly plan: string; readonly url: string };
  /** The plan and its exceeded limit, such as `keyless/minute`. */
  readonly quota?: string;
  /** The underlying error, for the log. The client never sees it. */
  readonly cause?: unknown;
}

/** The only error that the code throws on purpose. Every other thrown value becomes `internal`. */
export class KibitzError extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  readonly nextAction: NextAction;
  readonly retryAfterMs: number | undefined;
  readonly suggestedRequest: Readonly<Record<string, unknown>> | undefined;
  readonly upgrade: { readonly plan: string; readonly url: string } | undefined;
  readonly quota: string | undefined;
  /** The number of times that this error counts in the caller's error quota. See {@link withCost}. */
  cost: number;

  constructor(code: ErrorCode, detail: string, options: KibitzErrorOptions = {}) {
    // A rejection needs no stack trace, and capturing one is slower than most checks. An internal error has the trace of its
    // cause.
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

  /** True if the same request can succeed later. */
  get retryable(): boolean {
    return this.nextAction === "retry_later" || this.nextAction === "retry_now";
  }
}

/** The maximum cost of one error. It keeps a few expensive errors from using up the error quota. */
const costMax = 20;

/** Raises the cost of an error that took as much work as `cost` cheap checks. Returns the same error. */
export function withCost(error: KibitzError, cost: number): KibitzError {
  error.cost = Math.min(Math.max(error.cost, Math.floor(cost)), costMax);
  return error;
}

/** The number of bytes that cost one unit if they were read and the request was then rejected. */
const bytesForOne = 8 * 1024;

/** Returns the cost of an error that was found by reading this number of bytes. */
export function costOfBytes(count: number): number {
  return Math.min(Math.floor(1 + count / bytesForOne), costMax);
}

/** The number of moves that cost one unit if they were played and the request was then rejected. */
const movesForOne = 50;

/** Returns the cost of an error that was found by playing this number of moves. */
export function costOfMoves(count: number): number {
  return 1 + count / movesForOne;
}

/**
 * Creates the error of a request with violations. The error has the code of the first violation.
 *
 * @throws TypeError if `violations` is empty
 */
export function errorFromViolations(
  violations: readonly Violation[],
  options: Omit<KibitzErrorOptions, "violations"> = {},
): KibitzError {
  const [first] = violations;
  if (first === undefined || first.code === "over_plan_limit") {
    throw new TypeError("errorFromViolations needs a violation that has an error of its own");
  }
  const others = violations.length - 1;
  // Validation stops at this number of violations, so there may be more.
  const count = violations.length < violationsMax ? `are ${others}` : `are at least ${violationsMax - 1}`;
  const more = others === 0 ? "" : others === 1 ? " There is 1 more fault." : ` There ${count} more faults.`;
  return new KibitzError(first.code, `${first.message}${more}`, { ...options, violations });
}

/**
 * Rejects a request that has violations.
 *
 * @throws KibitzError if there are any
 */
export function refuseViolations(violations: readonly Violation[]): void {
  if (violations.length > 0) {
    throw errorFromViolations(violations);
  }
}

/** Converts any thrown value into a KibitzError. A value that is not one becomes `internal`, with the value as the cause. */
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
