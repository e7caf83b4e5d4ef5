import { withoutKeys } from "../text/plain-text.ts";
import { type ErrorCode, errorKind, type NextAction } from "./catalogue.ts";

/** One thing that is wrong with a request. */
export interface Fault {
  /** JSON Pointer (RFC 6901) to the value; a missing field has the pointer it would have. */
  readonly pointer: string;
  /** `over_plan_limit` stands in errors that are `upgrade_needed`. */
  readonly code: ErrorCode | "over_plan_limit";
  readonly message: string;
  /** The allowed values, as a JSON Schema fragment. */
  readonly allowed?: Readonly<Record<string, unknown>>;
  /** The place in the value. */
  readonly place?: Place;
  /** Fields that the request would have instead, if the fault is one of a request's own fields: they are suggested. */
  readonly instead?: Readonly<Record<string, unknown>>;
  /** For an unknown key: the known key that it probably stands for. */
  readonly meant?: string;
}

/** A place in a FEN, in a list of moves or in the text of a game. */
interface Place {
  /** The text at this place, at most 64 characters; empty at the end of the text. */
  readonly token: string;
  /** In a game: number of the wrong or missing move of the main line, from 1. */
  readonly ply?: number;
  /** In a FEN or PGN: offset from the beginning of the text or file, in UTF-16 units. */
  readonly offset?: number;
  /** In a PGN: from 1. */
  readonly line?: number;
  /** In a PGN: from 1, in UTF-16 units. */
  readonly column?: number;
  /** Number of the game in its file, from 1. Set only if the file has several. */
  readonly game?: number;
  /** For an illegal move: the FEN of the position before it. */
  readonly fen?: string;
}

/** Most faults that one error reports. */
export const faultsMax = 20;

interface KibitzErrorOptions {
  readonly faults?: readonly Fault[];
  /** Replaces the catalogue's action. */
  readonly nextAction?: NextAction;
  /** Time until a retry makes sense, in milliseconds. */
  readonly retryAfterMs?: number;
  /** A similar request, as plain JSON, that would be answered. */
  readonly suggestedRequest?: Readonly<Record<string, unknown>>;
  readonly upgrade?: { readonly plan: string; readonly url: string };
  /** The plan and its exceeded limit, such as `keyless/minute`. */
  readonly quota?: string;
  /** The underlying error: for the log, never for the caller. */
  readonly cause?: unknown;
}

/** The one error that is thrown on purpose. Everything else that is thrown becomes `internal`. */
export class KibitzError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];
  readonly nextAction: NextAction;
  readonly retryAfterMs: number | undefined;
  readonly suggestedRequest: Readonly<Record<string, unknown>> | undefined;
  readonly upgrade: { readonly plan: string; readonly url: string } | undefined;
  readonly quota: string | undefined;
  /** How many times this error counts in the caller's error quota. See {@link withCost}. */
  cost: number;

  constructor(code: ErrorCode, detail: string, options: KibitzErrorOptions = {}) {
    // A refusal needs no stack trace, and taking one is slower than most checks. An internal error has the trace of its cause.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(withoutKeys(detail), options.cause === undefined ? {} : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "KibitzError";
    this.code = code;
    this.faults = (options.faults ?? []).slice(0, faultsMax).map(withoutKeysIn);
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

/** The highest cost of one error: a few must not use up the error quota. */
const costMax = 20;

/** Raises the cost of an error that took `cost` times the work of a cheap check. Returns the same error. */
export function withCost(error: KibitzError, cost: number): KibitzError {
  error.cost = Math.min(Math.max(error.cost, Math.floor(cost)), costMax);
  return error;
}

/** Bytes that were read in vain for one unit of cost. */
const bytesForOne = 8 * 1024;

/** The cost of an error that was found by reading so many bytes. */
export function costOfBytes(count: number): number {
  return Math.min(Math.floor(1 + count / bytesForOne), costMax);
}

/** Moves that were played in vain for one unit of cost. */
const movesForOne = 50;

/** The cost of an error that was found by playing so many moves. */
export function costOfMoves(count: number): number {
  return 1 + count / movesForOne;
}

/** Makes the error for a request with faults. It has the code of the first one. @throws TypeError if `faults` is empty */
export function errorFromFaults(
  faults: readonly Fault[],
  options: Omit<KibitzErrorOptions, "faults"> = {},
): KibitzError {
  const [first] = faults;
  if (first === undefined || first.code === "over_plan_limit") {
    throw new TypeError("errorFromFaults needs a fault that has an error of its own");
  }
  const others = faults.length - 1;
  // The search for faults stops at this number.
  const count = faults.length < faultsMax ? `are ${others}` : `are at least ${faultsMax - 1}`;
  const more = others === 0 ? "" : others === 1 ? " There is 1 more fault." : ` There ${count} more faults.`;
  return new KibitzError(first.code, `${first.message}${more}`, { ...options, faults });
}

/** @throws KibitzError if there are violations */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) {
    throw errorFromFaults(faults);
  }
}

/** Makes a KibitzError of any thrown value: all other values become `internal`, with the value as the cause. */
export function errorFromUnknown(thrown: unknown): KibitzError {
  return thrown instanceof KibitzError
    ? thrown
    : new KibitzError("internal", "Something failed inside the service.", { cause: thrown });
}

function withoutKeysIn(fault: Fault): Fault {
  const { pointer, message, place } = fault;
  return {
    ...fault,
    pointer: withoutKeys(pointer),
    message: withoutKeys(message),
    ...(place && { place: { ...place, token: withoutKeys(place.token) } }),
  };
}
