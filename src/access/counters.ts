import { LRUCache } from "lru-cache";
import { restMs } from "../analysis/expected-time.ts";
import { refusalKind } from "../errors/catalogue.ts";
import { costOfBytes, type KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import type { WindowUse } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import type { Plan, RatePolicy } from "./plans.ts";

/** One rate of one plan. */
interface CountedRate {
  /** Unique: plan and name of the rate. */
  readonly name: string;
  readonly policy: RatePolicy;
}

/** A rate of refusals. */
interface RefusalCounter extends CountedRate {
  /** Counts, and resolves with how the window stands, or undefined where that is not known. */
  add(subject: string, refusals: number): Promise<WindowUse | undefined>;
}

/** One rate of one plan, counted in this process. */
export interface Counter extends RefusalCounter {
  readonly windows: Windows;
}

/** What is counted of the callers of a plan. */
export interface PlanCounters {
  readonly requests: readonly Counter[];
  readonly engineTime: readonly Counter[];
  readonly refusals: readonly Counter[];
}

/** How a window stands. */
export interface RateWindow {
  readonly policy: RatePolicy;
  readonly remaining: number;
  /** Milliseconds until the window ends and all is there again. */
  readonly resetMs: number;
}

export function createPlanCounters({ id, limits }: Plan): PlanCounters {
  const counters = limits.rates.map((policy) => createCounter(id, policy));
  return {
    requests: counters.filter(({ policy }) => policy.unit === "request"),
    engineTime: counters.filter(({ policy }) => policy.unit === "engine_ms"),
    refusals: counters.filter(({ policy }) => policy.unit === "refusal"),
  };
}

function createCounter(planId: string, policy: RatePolicy): Counter {
  const windows = createWindows(policy.windowS * 1000);
  const add = async (subject: string, refusals: number) => windows.add(subject, refusals);
  return { name: nameOf(planId, policy), policy, windows, add };
}

/** What subjects have used in windows of one length, each of which begins with the first use. */
export interface Windows {
  /** Undefined where none has begun. */
  of(subject: string): WindowUse | undefined;
  /** Counts, and tells how the window stands then. Fewer than none are given back, unless their window has ended. */
  add(subject: string, count: number): WindowUse;
  /** A window that began in an earlier process. */
  restore(subject: string, use: WindowUse): void;
  /** Those that are kept: some may have ended, until another one begins. */
  readonly size: number;
}

export function createWindows(lengthMs: number): Windows {
  // As all last equally long, they end in the order in which they begin.
  const begun = new Map<string, { used: number; readonly endsAt: number }>();
  // Not by the wall clock, which is set back now and then.
  const clock = () => Math.floor(performance.now());

  function forgetEnded(now: number): void {
    for (const [subject, { endsAt }] of begun) {
      if (endsAt > now) {
        return;
      }
      begun.delete(subject);
    }
  }

  return {
    get size() {
      return begun.size;
    },
    of(subject) {
      const window = begun.get(subject);
      const endsInMs = window === undefined ? 0 : window.endsAt - clock();
      return window !== undefined && endsInMs > 0 ? { used: window.used, endsInMs } : undefined;
    },
    add(subject, count) {
      const now = clock();
      const window = begun.get(subject);
      if (window !== undefined && window.endsAt > now) {
        window.used += count;
        return { used: window.used, endsInMs: window.endsAt - now };
      }
      if (count < 0) {
        return { used: 0, endsInMs: 0 };
      }
      forgetEnded(now);
      begun.set(subject, { used: count, endsAt: now + lengthMs });
      return { used: count, endsInMs: lengthMs };
    },
    restore(subject, { used, endsInMs }) {
      begun.set(subject, { used, endsAt: clock() + Math.min(endsInMs, lengthMs) });
    },
  };
}

/** What a rate of a plan is called wherever it is counted. */
export function nameOf(planId: string, { name }: RatePolicy): string {
  return `${planId}/${name}`;
}

/** How the window of a subject stands, without counting. */
export function windowOf({ policy, windows }: Counter, subject: string): RateWindow {
  return windowFrom(policy, windows.of(subject));
}

export function windowFrom(policy: RatePolicy, use: WindowUse | undefined): RateWindow {
  return use === undefined
    ? { policy, remaining: policy.quota, resetMs: policy.windowS * 1000 }
    : { policy, remaining: Math.max(0, policy.quota - use.used), resetMs: use.endsInMs };
}

/**
 * Adds the header fields of the caller's windows to the answer, as draft-ietf-httpapi-ratelimit-headers-10 writes them:
 * `"minute";q=60;w=60` and `"minute";r=59;t=42`. Nothing where nothing is limited.
 */
export function setRateLimitHeaders(
  { answerHeaders, uncounted }: RequestOutcome,
  windows: readonly RateWindow[],
): void {
  if (windows.length === 0) {
    return;
  }
  let policies = "";
  let states = "";
  for (const { policy, remaining, resetMs } of windows) {
    const { name, quota, windowS } = policy;
    const separator = policies === "" ? "" : ", ";
    policies += `${separator}"${name}";q=${quota};w=${windowS}`;
    states += `${separator}"${name}";r=${Math.max(0, remaining - uncounted)};t=${Math.ceil(resetMs / 1000)}`;
  }
  answerHeaders.set("ratelimit-policy", policies);
  answerHeaders.set("ratelimit", states);
}

/** Whether the fields are there already. */
export function hasRateLimitHeaders({ answerHeaders }: RequestOutcome): boolean {
  return answerHeaders.has("ratelimit");
}

/** Counts what each subject has under way. */
export interface InFlight {
  /**
   * Lets one more in, unless so many are under way.
   *
   * @param expectedMs what it takes, as far as one can tell.
   */
  enter(subject: string, max: number, expectedMs: number): Disposable | undefined;
  /** Milliseconds until one of the subject's should have ended. */
  firstEndMs(subject: string): number;
  /**
   * Resolves when fewer than so many are under way: at once, where that is so already. Whoever asks next may be quicker.
   * Rejects with the reason of `signal`.
   */
  placeFree(subject: string, max: number, signal: AbortSignal): Promise<void>;
}

/** A class, because V8 takes 3 µs to make a literal with a symbol for a name. */
class TakenPlace implements Disposable {
  readonly #free: () => void;

  constructor(free: () => void) {
    this.#free = free;
  }

  [Symbol.dispose](): void {
    this.#free();
  }
}

/** A subject that has something under way. */
interface Running {
  readonly searches: { readonly startedAt: number; readonly expectedMs: number }[];
  /** Made when the first one waits: mostly nobody does. */
  waiting?: Set<() => void>;
}

export function createInFlight(): InFlight {
  const subjects = new Map<string, Running>();

  return {
    enter(subject, max, expectedMs) {
      const running = subjects.get(subject) ?? { searches: [] };
      if (running.searches.length >= max) {
        return undefined;
      }
      const search = { startedAt: performance.now(), expectedMs };
      running.searches.push(search);
      subjects.set(subject, running);
      return new TakenPlace(() => {
        const index = running.searches.indexOf(search);
        if (index === -1) {
          return;
        }
        running.searches.splice(index, 1);
        if (running.searches.length === 0) {
          subjects.delete(subject);
        }
        // All of them: the first to ask again gets the place, and may have left meanwhile.
        for (const wake of running.waiting ?? []) {
          wake();
        }
      });
    },
    firstEndMs(subject) {
      const now = performance.now();
      const searches = subjects.get(subject)?.searches ?? [];
      const rests = searches.map(({ startedAt, expectedMs }) => restMs(expectedMs, now - startedAt));
      return rests.length === 0 ? 0 : Math.min(...rests);
    },
    async placeFree(subject, max, signal) {
      signal.throwIfAborted();
      const running = subjects.get(subject);
      // Between a refusal and this call one may have ended: its end wakes nobody who comes after it.
      if (running === undefined || running.searches.length < max) {
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = () => reject(signal.reason);
      running.waiting ??= new Set();
      const { waiting } = running;
      waiting.add(resolve);
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        await promise;
      } finally {
        waiting.delete(resolve);
        signal.removeEventListener("abort", giveUp);
      }
    },
  };
}

/**
 * The budget of refusals: to find out what is wrong with a request costs as much as to find out that nothing is, so
 * whoever has been refused too often is refused unread until the window ends.
 */
export interface Refusals {
  /** The budget that the caller has spent; undefined while there is some left. Costs next to nothing. */
  spentBy(account: Account): SpentBudget | undefined;
  /**
   * Counts what a call of the caller ended with.
   *
   * @param readBytes how much had to be read to find it.
   */
  count(account: Account, error: KibitzError, readBytes?: number): void;
  /** Adds to the used error quota. */
  add(account: Account, refusals: number): void;
}

interface SpentBudget {
  readonly limit: string;
  readonly quota: number;
  /** Until it is there again. */
  readonly retryAfterMs: number;
}

/** Callers with a spent budget that are known at a time; beyond that, those who asked longest ago are counted anew. */
const spentMax = 10_000;

export function createRefusals(countersOf: (account: Account) => readonly RefusalCounter[]): Refusals {
  // Callers by the budget that they have spent, until its window ends.
  const spent = new LRUCache<string, CountedRate>({
    max: spentMax,
    // Retry-After is exact.
    ttlResolution: 0,
  });
  const idOf = ({ name }: CountedRate, { subject }: Account) => `${name} ${subject}`;

  async function charge(counter: RefusalCounter, account: Account, refusals: number): Promise<void> {
    const window = await counter.add(account.subject, refusals);
    if (window && window.used >= counter.policy.quota && window.endsInMs > 0) {
      spent.set(idOf(counter, account), counter, { ttl: window.endsInMs });
    }
  }

  const refused: Refusals = {
    spentBy(account) {
      if (spent.size === 0) {
        return undefined;
      }
      let budget: SpentBudget | undefined;
      for (const counter of countersOf(account)) {
        const id = idOf(counter, account);
        const retryAfterMs = spent.has(id) ? spent.getRemainingTTL(id) : 0;
        if (retryAfterMs > (budget?.retryAfterMs ?? 0)) {
          budget = { limit: counter.policy.name, quota: counter.policy.quota, retryAfterMs };
        }
      }
      return budget;
    },
    count(account, error, readBytes = 0) {
      const refusals = refusalsIn(error, readBytes);
      if (refusals > 0) {
        refused.add(account, refusals);
      }
    },
    add(account, refusals) {
      for (const counter of countersOf(account)) {
        // What the counter cannot count is not counted: the call is refused all the same.
        charge(counter, account, refusals).catch(() => {});
      }
    },
  };
  return refused;
}

/**
 * A refusal counts for what it cost to find, the reading of the body included. If the request would be answered later, one
 * less: a short request that comes too early counts for nothing.
 */
function refusalsIn({ code, cost: told }: KibitzError, readBytes: number): number {
  const cost = Math.max(told, costOfBytes(readBytes));
  switch (refusalKind(code)) {
    case "wrong":
      return cost;
    case "early":
      return cost - 1;
    case "other":
      return 0;
  }
}
