import { setTimeout as sleep } from "node:timers/promises";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type RequestContext, type RequestOutcome, releaseAtEnd } from "../request/context.ts";
import { durationText } from "../text/plain-text.ts";
import type { Access } from "./access.ts";
import type { Account } from "./account.ts";
import { tooManyCalls } from "./call-rates.ts";
import { type RateWindow, setRateLimitHeaders } from "./counters.ts";
import type { Limits, Refusal } from "./limits.ts";

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
    enter: async (request, outcome, kind) => admit(await access.accountOf(request), outcome, kind),
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

/**
 * What a request is told that the limits refuse now. It says to wait for whole seconds, as Retry-After counts, rounded up and at
 * least one: whoever waits exactly so long does not come too early.
 */
export function errorFromRefusal(refusal: Refusal, { plan }: Account, requests = 1): KibitzError {
  const seconds = Math.max(1, Math.ceil(refusal.retryAfterMs / 1000));
  const options = { retryAfterMs: seconds * 1000, quota: `${plan.id}/${refusal.limit}` };
  const { code, quota } = refusal;
  const wait = durationText(seconds);
  switch (code) {
    case "rate_limited":
      return new KibitzError(
        code,
        requests > 1
          ? `This review counts for ${requests} requests, and fewer are left of the ${quota} in this window. Try again in ${wait}.`
          : `The limit of ${quota} ${quota === 1 ? "request" : "requests"} in this window is reached. Try again in ${wait}.`,
        options,
      );
    case "quota_exhausted":
      return new KibitzError(
        code,
        `The ${quota / 1000} s of engine time in this window are used up: more is available in ${wait}.`,
        options,
      );
    case "concurrency_limited":
      return new KibitzError(
        code,
        `The plan's maximum of ${quota} ${quota === 1 ? "search" : "searches"} at a time is reached: one of them should end within ${wait}.`,
        options,
      );
  }
}

/**
 * Refuses what could not be admitted now, whatever it asks, and says when it could.
 *
 * @throws KibitzError `rate_limited`, `quota_exhausted`
 */
export async function refuseUsedUp(limits: Pick<Limits, "allWindowsOf">, account: Account): Promise<void> {
  const windows = await limits.allWindowsOf(account);
  const usedUp = windows.filter(({ policy, remaining }) => remaining === 0 && policy.unit !== "refusal");
  // If several windows are used up, the caller has to wait for the last one.
  const last = usedUp.toSorted((one, other) => other.resetMs - one.resetMs)[0];
  if (last) {
    const { name: limit, quota, unit } = last.policy;
    const code = unit === "request" ? "rate_limited" : "quota_exhausted";
    throw errorFromRefusal({ code, limit, quota, retryAfterMs: last.resetMs }, account);
  }
}

/** @throws KibitzError `rate_limited` where the caller has been refused too often. */
export function refuseSpent(limits: Limits, account: Account): void {
  const error = spentError(limits, account);
  if (error) {
    throw error;
  }
}

function spentError({ refusals }: Limits, account: Account): KibitzError | undefined {
  const spent = refusals.spentBy(account);
  if (spent === undefined) {
    return undefined;
  }
  const { limit, quota, retryAfterMs } = spent;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new KibitzError(
    "rate_limited",
    `The limit of ${quota} ${quota === 1 ? "refusal" : "refusals"} in this window is reached: too many requests were wrong, or beyond the plan. Try again in ${durationText(seconds)}, with requests that can be answered.`,
    { retryAfterMs: seconds * 1000, quota: `${account.plan.id}/${limit}` },
  );
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
