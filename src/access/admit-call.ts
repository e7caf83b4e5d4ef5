import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type RequestContext, type RequestOutcome, releaseAtEnd } from "../request/context.ts";
import { sleep } from "../time/time.ts";
import type { Access } from "./access.ts";
import type { Account } from "./account.ts";
import { createCallRates } from "./call-rates.ts";
import { LimitError, tooManyCalls } from "./limit-errors.ts";
import type { Limits } from "./limits.ts";
import { setRateLimitHeaders } from "./rate-limit-fields.ts";

/** Admits or rejects a request before its body is read. An invalid key is rejected even if no key is required. */
export type AdmitCall = (
  request: RequestContext,
  outcome: RequestOutcome,
  kind: CallKind,
) => Promise<AdmittedCall>;

/**
 * - `call`: a call that needs no engine. Limits apply to the address.
 * - `message`: an MCP message. Handled like `call` until the body is read.
 * - `limited`: an analysis. Limits apply to the caller.
 * - `long`: a batch or review. Limits apply to the caller. The number of concurrent calls is also limited.
 */
export type CallKind = "call" | "limited" | "long" | "message";

export interface AdmittedCall {
  readonly account: Account;
  /** Call this before a slow step. Throws `rate_limited` if the caller's error quota is used up. */
  check(): void;
  /** Call this if an MCP message requests an analysis. The limits then count an analysis instead of a call. */
  countAsAnalysis(): void;
  /** Call this if the request fails before its RPC method is called. Resolves with the error to send. */
  refused(error: KibitzError): Promise<KibitzError>;
}

/** Milliseconds before each `rate_limited` response. Without this pause, clients that retry at once would slow down others. */
const refusalPauseMs = 100;

/** `isLate` returns true if the event loop is too busy to accept another request. */
export function createAdmitCall(access: Access, isLate: () => boolean): AdmitCall {
  const { limits, longCalls } = access;
  const callRates = createCallRates();

  function countCall({ address, plan }: Account, outcome: RequestOutcome): void {
    const window = callRates.take(address, plan);
    if (window) {
      const error = tooManyCalls(window, plan);
      setRateLimitHeaders(outcome, [], error.reached);
      throw error;
    }
  }

  /** Counts a batch or review before its body is read, because reading the body uses time and memory. */
  async function countLongCall(account: Account, outcome: RequestOutcome): Promise<void> {
    await limits.refuseUsedUp(account);
    const place = longCalls.begin(account, outcome);
    releaseAtEnd(outcome, () => place[Symbol.dispose]());
  }

  async function admit(account: Account, outcome: RequestOutcome, kind: CallKind): Promise<void> {
    if (kind === "call" || kind === "message") {
      countCall(account, outcome);
    }
    if (kind === "call") {
      return;
    }
    if (access.isKeyRequired && account.key === undefined) {
      throw keyRequired(access);
    }
    try {
      if (isLate()) {
        const detail = "The server is too busy to read this request.";
        throw new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
      }
      limits.errorQuota.check(account);
      if (kind === "long") {
        await countLongCall(account, outcome);
      }
    } catch (thrown) {
      throw await reportRefusal(limits, account, outcome, errorFromUnknown(thrown));
    }
  }

  return async (request, outcome, kind) => {
    try {
      const account = await access.accountOf(request);
      await admit(account, outcome, kind);
      const isCounted = kind !== "call";
      if (isCounted) {
        releaseAtEnd(outcome, () => countAbandoned(limits, account, outcome));
      }
      return {
        account,
        check: () => isCounted && limits.errorQuota.check(account),
        countAsAnalysis: () => callRates.giveBack(account.address, account.plan),
        refused: async (error) => (isCounted ? countError(limits, account, outcome, error) : error),
      };
    } catch (thrown) {
      const { code, quota } = errorFromUnknown(thrown);
      outcome.limit = quota;
      // Set the code before the pause: if the client disconnects during the pause, the log line needs this code.
      outcome.code = code;
      if (code === "rate_limited") {
        await sleep(refusalPauseMs);
      }
      throw thrown;
    }
  };
}

/**
 * A call that its client abandons costs as much as a refusal, unless a rate limit has counted the call. Otherwise, work would be
 * free for a client that disconnects or sets a short deadline.
 */
function countAbandoned({ errorQuota }: Limits, account: Account, outcome: RequestOutcome): void {
  const { code, isCounted, workCost } = outcome;
  if ((code === "canceled" || code === "deadline_exceeded") && !isCounted && workCost > 0) {
    errorQuota.add(account, workCost);
  }
}

/** Counts the error in the error quota, and resolves with the error to send. */
export async function countError(
  limits: Limits,
  account: Account,
  outcome: RequestOutcome,
  error: KibitzError,
): Promise<KibitzError> {
  limits.errorQuota.count(account, error, outcome.readBytes);
  const sent = await reportRefusal(limits, account, outcome, error);
  outcome.limit = sent.quota;
  return sent;
}

/**
 * Sets the RateLimit headers of a refusal, and resolves with the error to send: if a window is used up for longer than the error
 * asks to wait, the error is the refusal by this window. The store is read only if the error has no windows.
 */
async function reportRefusal(
  limits: Limits,
  account: Account,
  outcome: RequestOutcome,
  error: KibitzError,
): Promise<KibitzError> {
  const known = error instanceof LimitError ? error.windows : undefined;
  const windows = known ?? (await limits.windowsOf(account));
  const later = error instanceof LimitError && !known ? limits.usedUpError(account, windows) : undefined;
  const sent = waitOf(later) > waitOf(error) ? (later ?? error) : error;
  setRateLimitHeaders(outcome, windows, sent instanceof LimitError ? sent.reached : undefined);
  return sent;
}

const waitOf = (error: KibitzError | undefined) => error?.retryAfterMs ?? 0;

export async function reportWindows(
  limits: Limits,
  account: Account,
  outcome: RequestOutcome,
): Promise<void> {
  setRateLimitHeaders(outcome, await limits.windowsOf(account));
}

export function keyRequired({ selfService }: Pick<Access, "selfService">): KibitzError {
  const needed = "This call requires an API key, sent as Authorization: Bearer kbz_…;";
  return selfService
    ? new KibitzError("api_key_required", `${needed} POST /v1/keys issues one.`)
    : new KibitzError("api_key_required", `${needed} the operator of this service issues keys.`, {
        nextAction: "contact_operator",
      });
}
