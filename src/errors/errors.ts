import { withoutKeys } from "../text/keys-in-text.ts";
import { type ErrorCode, errorKind, isRetried, type NextAction } from "./catalog.ts";

export interface Violation {
  /** JSON Pointer (RFC 6901). For a missing field, the pointer that the field would have. */
  readonly pointer: string;
  /** `over_plan_limit` occurs only in `upgrade_needed` errors. */
  readonly code: ErrorCode | "over_plan_limit";
  readonly message: string;
  readonly allowed?: Readonly<Record<string, unknown>>;
  readonly place?: Place;
  /** Corrects the violation: the names of fields in the request, and their new values. */
  readonly instead?: Readonly<Record<string, unknown>>;
  readonly meant?: string;
}

interface Place {
  /** The wrong part of the FEN or PGN, at most 64 characters. Empty if the FEN or PGN ends too early. */
  readonly token: string;
  /** The number of the wrong or missing half-move in the main line. The first half-move is 1. */
  readonly ply?: number;
  /** The distance from the beginning of a FEN or PGN, in UTF-16 units. */
  readonly offset?: number;
  /** The line number in the PGN. The first line is 1. */
  readonly line?: number;
  /** The column in the PGN, in UTF-16 units. The first column is 1. */
  readonly column?: number;
  /** The number of the game, if the PGN has several games. The first game is 1. */
  readonly game?: number;
  readonly fen?: string;
}

export const violationsMax = 20;

interface KibitzErrorOptions {
  readonly violations?: readonly Violation[];
  readonly nextAction?: NextAction;
  readonly retryAfterMs?: number;
  readonly suggestedRequest?: Readonly<Record<string, unknown>>;
  readonly upgrade?: { readonly plan: string; readonly url: string };
  /** The plan and the name of the exceeded limit, such as `keyless/minute`. */
  readonly quota?: string;
  readonly cause?: unknown;
}

/** Returns the object of "the plan of `upgrade` allows …": `it`, the request itself, or `more` requests. */
export function allowedByUpgrade(code: ErrorCode): string {
  return code === "upgrade_needed" ? "it" : "more";
}

/** All intended errors have this class. Any other thrown value is reported as `internal`. */
export class KibitzError extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  readonly nextAction: NextAction;
  readonly retryAfterMs: number | undefined;
  readonly suggestedRequest: Readonly<Record<string, unknown>> | undefined;
  readonly upgrade: { readonly plan: string; readonly url: string } | undefined;
  readonly quota: string | undefined;
  cost: number;

  constructor(code: ErrorCode, detail: string, options: KibitzErrorOptions = {}) {
    // Capturing a stack trace is slower than most validations. An internal error has the stack trace of its cause.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(soundText(detail), options.cause === undefined ? {} : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "KibitzError";
    this.code = code;
    this.violations = (options.violations ?? []).slice(0, violationsMax).map(soundViolation);
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
    return isRetried(this.nextAction);
  }
}

/** The maximum cost of one error. Otherwise, a few expensive errors would use up the error quota. */
const costMax = 20;

/** Raises the cost of the error to at least `cost`. Returns the same error. A simple validation costs 1. */
export function withCost(error: KibitzError, cost: number): KibitzError {
  error.cost = Math.min(Math.max(error.cost, Math.floor(cost)), costMax);
  return error;
}

const bytesForOne = 8 * 1024;

export function costOfBytes(count: number): number {
  return Math.min(Math.floor(1 + count / bytesForOne), costMax);
}

const movesForOne = 50;

export function costOfMoves(count: number): number {
  return 1 + count / movesForOne;
}

/** The error has the code of the first violation. Throws a TypeError if the list is empty. */
export function errorFromViolations(
  violations: readonly Violation[],
  options: Omit<KibitzErrorOptions, "violations"> = {},
): KibitzError {
  const [first] = violations;
  if (first === undefined || first.code === "over_plan_limit") {
    throw new TypeError("errorFromViolations needs a violation that has an error of its own");
  }
  const others = violations.length - 1;
  const count = violations.length < violationsMax ? `are ${others}` : `are at least ${violationsMax - 1}`;
  const more = others === 0 ? "" : others === 1 ? " There is 1 more fault." : ` There ${count} more faults.`;
  return new KibitzError(first.code, `${first.message}${more}`, { ...options, violations });
}

export function refuseViolations(violations: readonly Violation[]): void {
  if (violations.length > 0) {
    throw errorFromViolations(violations);
  }
}

export function errorFromUnknown(thrown: unknown): KibitzError {
  return thrown instanceof KibitzError
    ? thrown
    : new KibitzError("internal", "Something failed inside the service.", { cause: thrown });
}

function soundViolation(violation: Violation): Violation {
  const { pointer, message, place } = violation;
  return {
    ...violation,
    pointer: soundText(pointer),
    message: soundText(message),
    ...(place && { place: { ...place, token: soundText(place.token) } }),
  };
}

/** A shortened text can end with half of a surrogate pair. Protobuf could not contain this half, and gRPC could not send it. */
function soundText(text: string): string {
  return withoutKeys(text).toWellFormed();
}
