import { setTimeout as sleep } from "node:timers/promises";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type RequestContext, type RequestOutcome, releaseAtEnd } from "../request/context.ts";
import type { Access } from "./access.ts";
import type { Account } from "./account.ts";
import { refuseSpent, refuseUsedUp, tooManyCalls } from "./limit-errors.ts";
import type { Limits } from "./limits.ts";
import { setRateLimitHeaders } from "./rate-limit-fields.ts";

/** Admits calls by their headers, before anything of their bodies is read. */
export interface Entrance {
  /**
   * A credential that is present is never ignored, whatever the call: its sender has to learn that it does not work.
   *
   * @param kind how the call is counted
   * @throws KibitzError `invalid_api_key`; `rate_limited` if the caller's address has called too often, or the caller has used up
   * its error quota; for calls that are limited also `api_key_required` and `overloaded`; for a batch or review also
   * `quota_exhausted` and `concurrency_limited`
   */
  enter(request: RequestContext, outcome: RequestOutcome, kind: CallKind): Promise<Entry>;
}

/**
 * How a call is counted. `limited` and `long` calls (batches and reviews, which also hold a place until they end) count in the windows of their
 * caller; any other `call` counts in the rate of its address. A `message` of MCP counts as a call until its body shows an analysis.
 */
export type CallKind = "call" | "limited" | "long" | "message";

/** An admitted call. */
export interface Entry {
  readonly account: Account;
  /** To be called before work that takes long. @throws KibitzError `rate_limited` if the caller's other calls have used up its error quota */
  check(): void;
  /** Moves a message from the rate of calls to the windows of its caller. */
  isLimited(): void;
  /** Counts the error that the call ended with before its handler, and reports how the caller's windows stand. */
  refused(error: KibitzError): Promise<void>;
}

/**
 * Milliseconds until a caller gets one more `rate_limited`. Without this pause, a client that does not wait gets as many refusals as
 * the thread can write, thousands a second, and other callers wait meanwhile. A client that waits as long as it was told does not notice.
 */
const spentPauseMs = 100;

/** @param isLate whether the event loop lags so much that new work would delay accepted calls */
export function createEntrance(access: Access, isLate: () => boolean): Entrance {
  const { callRates, limits } = access;

  function entryOf(account: Account, outcome: RequestOutcome, kind: CallKind): Entry {
    const isCounted = kind !== "call";
    return {
      account,
      check: () => isCounted && refuseSpent(limits, account),
      isLimited: () => callRates.giveBack(account.address, account.plan),
      refused: async (error) => {
        if (isCounted) {
          await countRefusal(limits, account, outcome, error);
        }
      },
    };
  }

  function takeCall({ address, plan }: Account, outcome: RequestOutcome): void {
    const window = callRates.take(address, plan);
    if (window) {
      setRateLimitHeaders(outcome, [window]);
      throw tooManyCalls(window, plan);
    }
  }

  /** A long call gets its place before its body is read: that takes many times as long, and the inflated body stays in memory. */
  async function takeLongPlace(account: Account, outcome: RequestOutcome): Promise<void> {
    await refuseUsedUp(limits, account);
    const place = access.longCalls.begin(account, outcome);
    releaseAtEnd(outcome, () => place[Symbol.dispose]());
  }

  async function admit(account: Account, outcome: RequestOutcome, kind: CallKind): Promise<void> {
    if (kind === "call" || kind === "message") {
      takeCall(account, outcome);
    }
    if (kind === "call") {
      return;
    }
    if (access.keysOnly && account.key === undefined) {
      throw keyRequired(access);
    }
    try {
      if (isLate()) {
        throw tooBusy();
      }
      refuseSpent(limits, account);
      if (kind === "long") {
        await takeLongPlace(account, outcome);
      }
    } catch (thrown) {
      await tellWindows(limits, account, outcome);
      throw thrown;
    }
  }

  return {
    async enter(request, outcome, kind) {
      try {
        const account = await access.accountOf(request);
        await admit(account, outcome, kind);
        return entryOf(account, outcome, kind);
      } catch (thrown) {
        const { code, quota } = errorFromUnknown(thrown);
        outcome.limit = quota;
        // Before the pause: a call whose client disconnects in it is logged with its error.
        outcome.code = code;
        if (code === "rate_limited") {
          await sleep(spentPauseMs);
        }
        throw thrown;
      }
    },
  };
}

/** Counts the error of a limited call, and reports how the caller's windows stand. */
export async function countRefusal(
  limits: Limits,
  account: Account,
  outcome: RequestOutcome,
  error: KibitzError,
): Promise<void> {
  outcome.limit = error.quota;
  limits.refusals.count(account, error, outcome.readBytes);
  await tellWindows(limits, account, outcome);
}

/** Reports how a caller's windows stand, in the header fields of the answer. */
export async function tellWindows(limits: Limits, account: Account, outcome: RequestOutcome): Promise<void> {
  setRateLimitHeaders(outcome, await limits.windowsOf(account));
}

/** The error for a call that comes while the event loop lags. */
function tooBusy(): KibitzError {
  return new KibitzError("overloaded", "The server is too busy to read this request.", {
    retryAfterMs: 1000,
  });
}

/** The error for calls that are about a key, or for holders of one, and carry none. */
export function keyRequired({ selfService }: Pick<Access, "selfService">): KibitzError {
  return selfService
    ? new KibitzError(
        "api_key_required",
        "This call requires an API key, sent as Authorization: Bearer kbz_…; POST /v1/keys issues one.",
      )
    : new KibitzError(
        "api_key_required",
        "This call requires an API key, sent as Authorization: Bearer kbz_…; the operator of this service issues keys.",
        { nextAction: "contact_operator" },
      );
}
