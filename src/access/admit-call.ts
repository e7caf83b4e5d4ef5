import { setTimeout as sleep } from "node:timers/promises";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type RequestContext, type RequestOutcome, releaseAtEnd } from "../request/context.ts";
import type { Access } from "./access.ts";
import type { Account } from "./account.ts";
import { createCallRates } from "./call-rates.ts";
import { tooManyCalls } from "./limit-errors.ts";
import type { Limits } from "./limits.ts";
import { hasRateLimitHeaders, setRateLimitHeaders } from "./rate-limit-fields.ts";

/**
 * Admits a call by its headers, before its body is read. Never ignores a credential, because its sender must learn that it does
 * not work. Throws `invalid_api_key` or `rate_limited`; for limited calls also `api_key_required` or `overloaded`; for a batch or
 * review also `quota_exhausted` or `concurrency_limited`.
 */
export type AdmitCall = (
  request: RequestContext,
  outcome: RequestOutcome,
  kind: CallKind,
) => Promise<AdmittedCall>;

/**
 * Calls that are `limited` or `long` count in the windows of their caller; `long` ones (batches, reviews) also hold a place. Any
 * other `call` counts in the rate of its address, and so does an MCP `message` until its body shows an analysis.
 */
export type CallKind = "call" | "limited" | "long" | "message";

export interface AdmittedCall {
  readonly account: Account;
  /** Call this before work that takes long. Throws `rate_limited` if the caller's other calls have used up its error quota. */
  check(): void;
  /** Takes an MCP message out of the rate of calls: it is an analysis, which counts in the windows of its caller. */
  countAsAnalysis(): void;
  /** Counts the error with which the call ended before its handler, and reports the caller's windows. */
  refused(error: KibitzError): Promise<void>;
}

/** Delays each `rate_limited` error: a client that never waits would get thousands per second, and hold up other callers. */
const refusalPauseMs = 100;

/** The server `isLate` if its event loop is so late that new work would delay accepted calls. */
export function createAdmitCall(access: Access, isLate: () => boolean): AdmitCall {
  const { limits, longCalls } = access;
  const callRates = createCallRates();

  function countCall({ address, plan }: Account, outcome: RequestOutcome): void {
    const window = callRates.take(address, plan);
    if (window) {
      setRateLimitHeaders(outcome, [window]);
      throw tooManyCalls(window, plan);
    }
  }

  /** Takes the place before the body is read, because reading takes many times as long, and the body stays in memory. */
  async function takeLongPlace(account: Account, outcome: RequestOutcome): Promise<void> {
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
    if (access.keysOnly && account.key === undefined) {
      throw keyRequired(access);
    }
    try {
      if (isLate()) {
        const detail = "The server is too busy to read this request.";
        throw new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
      }
      limits.errorQuota.check(account);
      if (kind === "long") {
        await takeLongPlace(account, outcome);
      }
    } catch (thrown) {
      await reportWindows(limits, account, outcome);
      throw thrown;
    }
  }

  return async (request, outcome, kind) => {
    try {
      const account = await access.accountOf(request);
      await admit(account, outcome, kind);
      const isCounted = kind !== "call";
      return {
        account,
        check: () => isCounted && limits.errorQuota.check(account),
        countAsAnalysis: () => callRates.giveBack(account.address, account.plan),
        refused: async (error) => {
          if (isCounted) {
            await countError(limits, account, outcome, error);
          }
        },
      };
    } catch (thrown) {
      const { code, quota } = errorFromUnknown(thrown);
      outcome.limit = quota;
      // Set the code before the pause: if the client disconnects during the pause, the call is logged with this code.
      outcome.code = code;
      if (code === "rate_limited") {
        await sleep(refusalPauseMs);
      }
      throw thrown;
    }
  };
}

export async function countError(
  limits: Limits,
  account: Account,
  outcome: RequestOutcome,
  error: KibitzError,
): Promise<void> {
  outcome.limit = error.quota;
  limits.errorQuota.count(account, error, outcome.readBytes);
  // Do not read the reported windows again: a moment later, `t` could be a second less than Retry-After.
  if (error.code !== "rate_limited" || !hasRateLimitHeaders(outcome)) {
    await reportWindows(limits, account, outcome);
  }
}

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
