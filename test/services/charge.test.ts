import { expect, test, vi } from "vitest";
import type { Account } from "../../src/access/account.ts";
import { countError } from "../../src/access/admit-call.ts";
import { createLimits, type EnteredRequest, type Limits } from "../../src/access/limits.ts";
import { keylessPlan, type Plan } from "../../src/access/plans.ts";
import type { ValidatedRequest } from "../../src/analysis/analysis.ts";
import type { Call } from "../../src/calls/call.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { ClientDisconnected, createOutcome } from "../../src/request/context.ts";
import { createCharge } from "../../src/services/charge.ts";
import { createMemoryLimitStore } from "../../src/storage/memory/limit-store.ts";
import type { LimitStore } from "../../src/storage/ports.ts";

const position = { position: { moves: [] } } as unknown as ValidatedRequest;
const waiter = {
  account: { subject: "somebody", plan: { limits: {} } },
  outcome: { answerHeaders: new Map() },
  signal: new AbortController().signal,
} as unknown as Call;

/**
 * Charges a review. For each search that ends, `ended` records the requests, the engine time, and whether the search was
 * answered.
 */
async function chargeReview(call = waiter) {
  const ended: (readonly [requests: number, engineMs: number, answered: boolean])[] = [];
  const enter: Limits["enter"] = async (_account, _time, { requests = 1, onEntered } = {}) => {
    const entered: EnteredRequest = { leave: (...end) => ended.push([requests, ...end]), freePlace: vi.fn() };
    onEntered?.(entered);
    return { kind: "entered", windows: [], entered };
  };
  const charge = createCharge({ enter } as unknown as Limits, () => ({
    expectedMs: 1,
    longestMs: 1,
  }));
  const reviewing = new DisposableStack();
  const review = await charge.review(position, 30, call, reviewing);
  const search = async () => {
    const held = new DisposableStack();
    const terms = await review.search(position, new AbortController().signal, held);
    return { terms, [Symbol.dispose]: () => held.dispose() };
  };
  return { reviewing, search, ended };
}

test.each([
  [0, false],
  [5, true],
])(
  "a failed review whose later searches used %d ms of engine time counts towards the rate limit: %s",
  async (engineMs, counts) => {
    const { reviewing, search, ended } = await chargeReview();
    // The answer for the first position is cached.
    (await search())[Symbol.dispose]();
    const later = await search();
    if (engineMs > 0) {
      later.terms.onEngineTime(engineMs);
    }
    later[Symbol.dispose]();
    reviewing.dispose();
    expect(ended).toEqual([
      [0, engineMs, false],
      [3, 0, counts],
    ]);
  },
);

test("a review that its client abandons counts towards the rate limit, even if no engine was used", async () => {
  const leaving = new AbortController();
  const { reviewing, search, ended } = await chargeReview({ ...waiter, signal: leaving.signal });
  (await search())[Symbol.dispose]();
  leaving.abort(new ClientDisconnected());
  reviewing.dispose();
  expect(ended).toEqual([[3, 0, true]]);
});

const storeAway = { available: false } as LimitStore;

test.each([
  ["of one process", createLimits(createMemoryLimitStore())],
  [
    "of nodes whose store is unavailable",
    createLimits(createMemoryLimitStore(), { store: storeAway, nodes: () => 2 }),
  ],
])(
  "while a caller runs the maximum number of searches, a request that needs no search is admitted; limits %s",
  async (_, limits) => {
    const account: Account = { subject: "1.2.3.4", address: "1.2.3.4", plan: keylessPlan, key: undefined };
    const somebody = { ...waiter, account, outcome: createOutcome() };
    const charge = createCharge(limits, () => ({ expectedMs: 1, longestMs: 1 }));
    using held = new DisposableStack();
    const search = async () => charge.request(position, somebody, held);
    const searching = [await search()];
    for (;;) {
      const next = await search().catch((error: KibitzError) => error);
      if (next instanceof KibitzError) {
        expect(next.code).toBe("concurrency_limited");
        break;
      }
      searching.push(next);
    }
    await charge.withoutSearch(somebody);
  },
);

test("a caller whose rate limit is used up gets the same waiting time in Retry-After and in RateLimit", async () => {
  let now = 0;
  using _ = vi.spyOn(performance, "now").mockImplementation(() => now);
  const minute = { name: "minute", quota: 1, windowS: 60, unit: "request" } as const;
  const plan: Plan = { ...keylessPlan, limits: { ...keylessPlan.limits, rates: [minute] } };
  const account: Account = { subject: "a", address: "a", plan, key: undefined };
  const outcome = createOutcome();
  const limits = createLimits(createMemoryLimitStore());
  const charge = createCharge(limits, () => ({ expectedMs: 1, longestMs: 1 }));
  await charge.withoutSearch({ account, outcome });
  now = 999.5;
  const refusal = await charge.withoutSearch({ account, outcome }).catch((error: KibitzError) => error);
  // A full second passes between the refusal and the response.
  now = 1001;
  await countError(limits, account, outcome, refusal as KibitzError);
  expect(refusal).toMatchObject({ code: "rate_limited", retryAfterMs: 60_000 });
  expect(outcome.answerHeaders.get("ratelimit")).toBe('"minute";r=0;t=60');
});
