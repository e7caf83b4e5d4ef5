import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { createInFlight } from "../request/in-flight.ts";
import type { Account } from "./account.ts";
import { firstFreeMs, type OfferKey, offerNothing, tooManyLongCalls } from "./limit-errors.ts";

/** The maximum number of waiting requests of a caller. Each waiting request uses memory. */
const waitingMax = 4;

/** The maximum number of batches and reviews of all callers without a limit. A review of 600 plies uses 3 MB of memory. */
const unlimitedMax = 64;

const unlimited = "callers without a limit";

/** The expected time of a batch or review in milliseconds: a review of 40 moves at depth 14 on two slots. */
const expectedMs = 10_000;

/** Limits the concurrent batches and reviews of a caller, because a batch or review uses memory until the call ends. */
export function createLongCalls(offerKey: OfferKey = offerNothing) {
  const running = createInFlight();
  const waiting = createInFlight();
  const holders = new WeakSet<RequestOutcome>();
  return {
    /** Throws `concurrency_limited` or `overloaded`. Does nothing if the call with this `outcome` is already counted. */
    begin(account: Account, outcome: RequestOutcome): Disposable {
      const { subject, plan } = account;
      const release = new DisposableStack();
      if (holders.has(outcome)) {
        return release;
      }
      const max = plan.limits.concurrent;
      const counted = max === undefined ? unlimited : subject;
      if (running.fullFor(counted, max ?? unlimitedMax)) {
        throw max === undefined
          ? tooManyTogether()
          : tooManyLongCalls(max, firstFreeMs(running.of(counted)), { account, offerKey });
      }
      holders.add(outcome);
      release.use(running.take(counted, expectedMs));
      release.defer(() => holders.delete(outcome));
      return release;
    },
    /**
     * Returns a turn if the caller has a batch or review in flight: a single request may then wait until a search ends. Dispose of
     * the turn when the request waits no longer. Otherwise, or if too many of its requests wait already, returns
     * undefined.
     */
    turnOfSingle(subject: string): Disposable | undefined {
      const mayWait = running.of(subject).length > 0 && !waiting.fullFor(subject, waitingMax);
      return mayWait ? waiting.take(subject) : undefined;
    },
  };
}

function tooManyTogether(): KibitzError {
  const detail = `This node runs its maximum of ${unlimitedMax} batches and reviews already. Retry later.`;
  return new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
}
