import { setTimeout as sleep } from "node:timers/promises";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type RequestContext, type RequestOutcome, releaseAtEnd } from "../request/context.ts";
import type { Access } from "./access.ts";
import type { Account } from "./account.ts";
import { type RateWindow, setRateLimitHeaders } from "./counters.ts";
import { refuseSpent, refuseUsedUp, spentError, tooManyCalls } from "./limit-errors.ts";
import type { Limits } from "./limits.ts";

/** Lets calls in by what their headers say, before anything of their bodies is read. */
export interface Entrance {
  /**
   * A credential that is present is never ignored, whatever the call: its sender believes to be known, and must learn
   * that they are not.
   *
   * @param kind how the call is counted
   * @throws KibitzError `invalid_api_key`, `rate_limited` if the caller's address has called, or the caller
   * was refused, too often; for calls that are limited also `api_key_required` and `overloaded`; for a batch or review also
   * `quota_exhausted` and `concurrency_limited`
   */
  enter(request: RequestContext, outcome: RequestOutcome, kind: CallKind): Promise<Entry>;
}

/**
 * How a call is counted. `limited` and `long` calls (batches and reviews, which also hold a place until they end) count in the windows of their
 * caller; any other `call` counts in the rate of its address. A `message` of MCP counts as a call until its body shows an analysis.
 */
export type CallKind = "call" | "limited" | "long" | "message";

/** A call that was let in. */
export interface Entry {
  readonly account: Account;
  /** To be asked before work that takes long. Throws where the caller has been refused too often meanwhile. */
  check(): void;
  /** Moves a message from the rate of calls to the windows of its caller. */
  isLimited(): void;
  /** What the call ended with before the service saw it: counts it, and tells the caller how their windows stand. */
  refused(error: KibitzError): Promise<void>;
}

/**
 * How long somebody waits to be told again that they were refused too often, in milliseconds. Whoever asks on and on
 * without waiting would else be answered as fast as the thread can, a thousand times a second, and others wait meanwhile;
 * whoever comes back when they were told to does not notice.
 */
const spentPauseMs = 100;

/** @param isLate whether the thread is so busy that new work would make honest answers late. */
export function createEntrance(access: Access, isLate: () => boolean): Entrance {
  const { callRates } = access;

  async function admit(account: Account, outcome: RequestOutcome, kind: CallKind): Promise<Entry> {
    if (kind === "call" || kind === "message") {
      const window = callRates.take(account.address, account.plan);
      if (window) {
        return refuseCall(window, account, outcome);
      }
    }
    if (kind === "call") {
      return new UnlimitedEntry(account);
    }
    if (access.keysOnly && account.key === undefined) {
      throw keyRequired(access);
    }
    const { limits } = access;
    const refusal = isLate() ? tooBusy() : spentError(limits, account);
    if (refusal) {
      return turnAway(refusal, account, outcome);
    }
    const entry = new LimitedEntry(account, outcome, limits, () =>
      callRates.giveBack(account.address, account.plan),
    );
    return kind === "long" ? admitLong(entry, outcome) : entry;
  }

  /** Before its body is read: that takes many times as long, and what it is unpacked to stays in memory. */
  async function admitLong(entry: Entry, outcome: RequestOutcome): Promise<Entry> {
    const { account } = entry;
    try {
      if (!outcome.isLong) {
        await refuseUsedUp(access.limits, account);
        const place = access.longCalls.begin(account, outcome);
        releaseAtEnd(outcome, () => place[Symbol.dispose]());
      }
      return entry;
    } catch (thrown) {
      return turnAway(errorFromUnknown(thrown), account, outcome);
    }
  }

  async function refuseCall(window: RateWindow, { plan }: Account, outcome: RequestOutcome): Promise<never> {
    const error = tooManyCalls(window, plan);
    outcome.limit = error.quota;
    // Before the pause: a caller who leaves in it has a line in the log, too.
    outcome.code = error.code;
    await sleep(spentPauseMs);
    setRateLimitHeaders(outcome, [window]);
    throw error;
  }

  async function turnAway(refusal: KibitzError, account: Account, outcome: RequestOutcome): Promise<never> {
    outcome.limit = refusal.quota;
    outcome.code = refusal.code;
    if (refusal.code === "rate_limited") {
      await sleep(spentPauseMs);
    }
    await tellWindows(access.limits, account, outcome);
    throw refusal;
  }

  return {
    async enter(request, outcome, kind) {
      const account = await access.accountOf(request).catch(async (thrown) => {
        const error = errorFromUnknown(thrown);
        outcome.limit = error.quota;
        if (error.code === "rate_limited") {
          await sleep(spentPauseMs);
        }
        throw thrown;
      });
      return admit(account, outcome, kind);
    },
  };
}

class UnlimitedEntry implements Entry {
  readonly account: Account;

  constructor(account: Account) {
    this.account = account;
  }

  check(): void {}

  isLimited(): void {}

  refused(): Promise<void> {
    return Promise.resolve();
  }
}

class LimitedEntry implements Entry {
  readonly account: Account;
  readonly #outcome: RequestOutcome;
  readonly #limits: Limits;
  readonly #giveBackCall: () => void;

  constructor(account: Account, outcome: RequestOutcome, limits: Limits, giveBackCall: () => void) {
    this.account = account;
    this.#outcome = outcome;
    this.#limits = limits;
    this.#giveBackCall = giveBackCall;
  }

  isLimited(): void {
    this.#giveBackCall();
  }

  check(): void {
    refuseSpent(this.#limits, this.account);
  }

  refused(error: KibitzError): Promise<void> {
    return countRefusal(this.#limits, this.account, this.#outcome, error);
  }
}

/** Counts what a limited call was refused for, and tells its caller how their windows stand. */
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

/** Tells a caller how their windows stand, in the header fields of the answer. */
export async function tellWindows(limits: Limits, account: Account, outcome: RequestOutcome): Promise<void> {
  setRateLimitHeaders(outcome, await limits.windowsOf(account));
}

/** What a call is told that comes while the thread is late with everything. */
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
