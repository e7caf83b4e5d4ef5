import { restMs } from "../analysis/expected-time.ts";
import type { ErrorCode } from "../errors/catalog.ts";
import { KibitzError } from "../errors/errors.ts";
import type { RunningSearch } from "../storage/ports.ts";
import { durationText } from "../text/duration-text.ts";
import type { Account } from "./account.ts";
import { keyUrl } from "./over-plan.ts";
import { freePlan, nameOf, type Plan, type RatePolicy, ratesOf } from "./plans.ts";
import type { RateWindow } from "./rate-limit-fields.ts";

export interface Refusal {
  readonly code: "rate_limited" | "quota_exhausted" | "concurrency_limited";
  readonly limit: string;
  readonly quota: number;
  /** The window that has no room. Undefined if there are too many searches at a time. */
  readonly window?: RateWindow;
  /** Milliseconds until the same request would be accepted. For concurrent searches, the time is an estimate. */
  readonly retryAfterMs: number;
}

/** A refusal by a limit, with what the RateLimit headers say of the limit. */
export class LimitError extends KibitzError {
  /** The window that refuses the request, with the wait of the error. Undefined if there are too many searches or calls at a time. */
  readonly reached: RateWindow | undefined;
  /** The caller's windows of requests and engine time. Undefined if they were not read for the refusal. */
  readonly windows: readonly RateWindow[] | undefined;

  /** Rounds the wait up to full seconds, because a client that waits for a time rounded down would retry too early. */
  constructor(code: ErrorCode, { quota, waitMs, detail, window, windows, offer }: LimitErrorOptions) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const retryAfterMs = seconds * 1000;
    const text = detail(durationText(seconds));
    super(code, offer ? `${text} ${offer.text}` : text, {
      retryAfterMs,
      quota,
      ...(offer && { upgrade: { plan: offer.plan, url: offer.url } }),
    });
    this.reached = window && { ...window, resetMs: retryAfterMs };
    this.windows = windows;
  }
}

interface LimitErrorOptions {
  /** The plan and the name of the limit. */
  readonly quota: string;
  readonly waitMs: number;
  readonly detail: (wait: string) => string;
  readonly window?: RateWindow | undefined;
  readonly windows?: readonly RateWindow[] | undefined;
  readonly offer?: KeyOffer | undefined;
}

/** The advantage of a key for a caller without a key. */
interface KeyOffer {
  readonly plan: string;
  readonly url: string;
  readonly text: string;
}

type ReachedLimit = Pick<RatePolicy, "unit" | "windowS"> | "concurrent";

/** Returns undefined if the caller has a key, or if no plan with a key allows more. */
export type OfferKey = (account: Account, reached: ReachedLimit) => KeyOffer | undefined;

export const offerNothing: OfferKey = () => undefined;

/**
 * @param plansNow returns the present plans, because the operator can change them while the server runs
 * @param hasSelfService true if callers can create keys of the free plan without the operator
 */
export function createKeyOffer(plansNow: () => readonly Plan[], hasSelfService: boolean): OfferKey {
  return ({ plan: { id } }, reached) => {
    const plans = plansNow();
    // A node may enforce only a part of a plan.
    const own = plans.find((plan) => plan.id === id && !plan.requiresKey);
    const least = own ? allowedIn(own, reached) : Number.POSITIVE_INFINITY;
    const better = plans.find((plan) => plan.requiresKey && allowedIn(plan, reached) > least);
    if (better === undefined) {
      return undefined;
    }
    const canGet = hasSelfService && better.id === freePlan.id;
    const way = canGet ? `POST ${keyUrl} issues one` : "the operator of this service issues keys";
    return {
      plan: better.id,
      url: canGet ? keyUrl : "/price",
      text: `An API key of the plan "${better.id}" allows ${amountText(allowedIn(better, reached), reached)}: ${way}.`,
    };
  };
}

/** The most that a plan allows during the length of the reached window. Every window of the plan counts, also a longer one. */
function allowedIn(plan: Plan, reached: ReachedLimit): number {
  if (reached === "concurrent") {
    return plan.limits.concurrent ?? Number.POSITIVE_INFINITY;
  }
  const amounts = ratesOf(plan, reached.unit).map(
    ({ quota, windowS }) => quota * Math.ceil(reached.windowS / windowS),
  );
  return Math.min(...amounts);
}

function amountText(amount: number, reached: ReachedLimit): string {
  const isUnlimited = amount === Number.POSITIVE_INFINITY;
  if (reached === "concurrent") {
    return isUnlimited
      ? "any number of searches at a time"
      : `${counted(amount, "search", "searches")} at a time`;
  }
  const time = durationText(reached.windowS);
  if (reached.unit === "engine_ms") {
    return isUnlimited ? "unlimited engine time" : `${Math.floor(amount / 1000)} s of engine time in ${time}`;
  }
  return isUnlimited ? "any number of requests" : `${counted(amount, "request", "requests")} in ${time}`;
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

interface RefusedBy {
  readonly account: Account;
  readonly requests?: number | undefined;
  readonly windows?: readonly RateWindow[] | undefined;
  readonly offerKey: OfferKey;
}

export function errorFromRefusal(
  { code, limit, quota, window, retryAfterMs }: Refusal,
  { account, requests = 1, windows, offerKey }: RefusedBy,
): LimitError {
  return new LimitError(code, {
    quota: `${account.plan.id}/${limit}`,
    waitMs: retryAfterMs,
    window,
    windows,
    offer: offerKey(account, window?.policy ?? "concurrent"),
    detail(wait) {
      switch (code) {
        case "rate_limited":
          return requests > 1
            ? `This review counts for ${requests} requests, and fewer are left of the ${quota} in this window. Try again in ${wait}.`
            : `The limit of ${counted(quota, "request", "requests")} in this window is reached. Try again in ${wait}.`;
        case "quota_exhausted":
          return `The ${quota / 1000} s of engine time in the window ${limit} are used up: more is available in ${wait}.`;
        case "concurrency_limited":
          return `The plan's maximum of ${counted(quota, "search", "searches")} at a time is reached: one of them should end within ${wait}.`;
      }
    },
  });
}

export function errorQuotaExceeded(policy: RatePolicy, waitMs: number, plan: Plan): LimitError {
  return new LimitError("rate_limited", {
    quota: nameOf(plan.id, policy),
    waitMs,
    window: { policy, remaining: 0, resetMs: waitMs },
    detail: (wait) =>
      `The limit of ${counted(policy.quota, "refusal", "refusals")} in this window is reached: too many requests were wrong, beyond the plan, or had an unknown API key. Try again in ${wait}, with requests that can be answered.`,
  });
}

export function tooManyCalls(window: RateWindow, plan: Plan): LimitError {
  const { policy, resetMs } = window;
  return new LimitError("rate_limited", {
    quota: nameOf(plan.id, policy),
    waitMs: resetMs,
    window,
    windows: [],
    detail: (wait) =>
      `The limit of ${policy.quota} calls in ${durationText(policy.windowS)} is reached for your address (analyses have limits of their own). Try again in ${wait}.`,
  });
}

export function tooManyLongCalls(
  max: number,
  waitMs: number,
  { account, offerKey }: Pick<RefusedBy, "account" | "offerKey">,
): LimitError {
  const calls = counted(max, "batch or review", "batches and reviews");
  return new LimitError("concurrency_limited", {
    quota: `${account.plan.id}/concurrent`,
    waitMs,
    offer: offerKey(account, "concurrent"),
    detail: (wait) =>
      `The plan's maximum of ${calls} at a time is reached: one of them should end within ${wait}.`,
  });
}

/** Returns the milliseconds until the first of these searches or calls is expected to end. */
export function firstFreeMs(running: readonly RunningSearch[]): number {
  const rests = running.map(({ expectedMs, elapsedMs }) => restMs(expectedMs, elapsedMs));
  return rests.length === 0 ? 0 : Math.min(...rests);
}
