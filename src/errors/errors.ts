import { withoutKeys } from "../text/plain-text.ts";
import { type ErrorCode, errorKind, type NextAction } from "./catalogue.ts";

/** One thing that is wrong with a request. */
export interface Fault {
  /** JSON Pointer (RFC 6901) to the value; a missing field has the pointer it would have. */
  readonly pointer: string;
  /** `over_plan_limit` stands in errors that are `upgrade_needed`. */
  readonly code: ErrorCode | "over_plan_limit";
  readonly message: string;
  /** What is allowed instead, as a JSON Schema fragment. */
  readonly allowed?: Readonly<Record<string, unknown>>;
  /** Where in a game, for whoever is to mend it there. */
  readonly place?: MovePlace | TextPlace;
  /** Whether the list in which the value stands is as good when it ends before it: then that is what is suggested. */
  readonly endsList?: true;
  /** Of an unknown key: the one that was probably meant. */
  readonly meant?: string;
}

/** A place in a game. */
export interface MovePlace {
  /** Which move of the main line is at fault or comes next, from 1. */
  readonly ply: number;
  /** What stands there, at most 64 characters of it; empty at the end of a text. */
  readonly token: string;
}

/** A place in the text of a game. */
export interface TextPlace extends MovePlace {
  /** Which game of a file, from 1; only where it has several. */
  readonly game?: number;
  /** From the beginning of the text, or of the file, in UTF-16 units. */
  readonly offset: number;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/** Most faults that one error reports. */
export const faultsMax = 20;

interface KibitzErrorOptions {
  readonly faults?: readonly Fault[];
  /** Where the catalogue's action is not the best one. */
  readonly nextAction?: NextAction;
  /** When the caller may come back, in milliseconds. */
  readonly retryAfterMs?: number;
  /** A request, as plain JSON, that would be answered. */
  readonly suggestedRequest?: Readonly<Record<string, unknown>>;
  readonly upgrade?: { readonly plan: string; readonly url: string };
  /** Which limit of which plan is exceeded: `keyless/minute`. */
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
  /** What it counts for in its caller's budget of refusals: whoever knows that it was dear to find says so. */
  cost: number;

  constructor(code: ErrorCode, detail: string, options: KibitzErrorOptions = {}) {
    // Nobody reads where a refusal was thrown, and to note it takes longer than to find most of them. What failed has its
    // place in the cause.
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

  /** Whether the same request can succeed later. */
  get retryable(): boolean {
    return this.nextAction === "retry_later" || this.nextAction === "retry_now";
  }
}

/** What one refusal can count for at most: few of them must not use the budget up. */
const costMax = 20;

/** The same error, which took so many times what it takes to see that a request is wrong at first sight. */
export function withCost(error: KibitzError, cost: number): KibitzError {
  error.cost = Math.min(Math.max(error.cost, Math.floor(cost)), costMax);
  return error;
}

/** Bytes that are read in vain, for what one refusal counts for. */
const bytesForOne = 8 * 1024;

/** What the refusal of so many bytes counts for that had to be read to find it. */
export function costOfBytes(count: number): number {
  return Math.min(Math.floor(1 + count / bytesForOne), costMax);
}

/** The error for a request with faults. The first fault gives the code; `faults` must not be empty. */
export function errorFromFaults(
  faults: readonly Fault[],
  options: Omit<KibitzErrorOptions, "faults"> = {},
): KibitzError {
  const [first] = faults;
  if (first === undefined || first.code === "over_plan_limit") {
    throw new TypeError("errorFromFaults needs a fault that has an error of its own");
  }
  const others = faults.length - 1;
  // Whoever looks for faults stops looking at so many.
  const count = faults.length < faultsMax ? `are ${others}` : `are at least ${faultsMax - 1}`;
  const more = others === 0 ? "" : others === 1 ? " There is 1 more fault." : ` There ${count} more faults.`;
  return new KibitzError(first.code, `${first.message}${more}`, { ...options, faults });
}

/** Any thrown value as a KibitzError: what was not thrown on purpose becomes `internal`, with the original as its cause. */
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

/** Which states may follow which. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** @throws Error where a state may not follow another: a fault of the service's own, never of a caller's. */
export function assertMayFollow<State extends string>(
  transitions: Transitions<State>,
  from: State,
  to: State,
): void {
  if (!transitions[from].includes(to)) {
    throw new Error(`"${to}" may not follow "${from}"`);
  }
}
