import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { createPlaces } from "../storage/memory/places.ts";
import type { Account } from "./account.ts";
import { firstFreeMs, tooManyLongCalls } from "./limit-errors.ts";

/**
 * The maximum number of waiting requests of a caller. Waiting requests use memory, and most clients send only a few at a time.
 */
const waitingMax = 4;

/** The maximum number of batches and reviews of all callers without a limit. A review of 600 plies uses 3 MB until it ends. */
const unlimitedMax = 64;

const unlimited = "callers without a limit";

/** Milliseconds that a review of 40 moves takes at depth 14 on two slots. */
const expectedMs = 10_000;

/**
 * Limits the batches and reviews of a caller, because each keeps its request in memory. The maximum is the plan's number of
 * concurrent searches.
 *
 * While batches and reviews use all searches of a caller, a single request waits for the end of one search. Without this wait,
 * the request would be rejected until a batch ends.
 */
export function createLongCalls() {
  const places = createPlaces();
  const waiting = createPlaces();
  const holders = new WeakSet<RequestOutcome>();
  return {
    /** Throws `concurrency_limited` or `overloaded`. Does nothing if this `outcome` is already counted. */
    begin({ subject, plan }: Account, outcome: RequestOutcome): Disposable {
      const release = new DisposableStack();
      if (holders.has(outcome)) {
        return release;
      }
      const max = plan.limits.concurrent;
      const counted = max === undefined ? unlimited : subject;
      const begun = places.of(counted);
      if (begun.length >= (max ?? unlimitedMax)) {
        throw max === undefined ? tooManyTogether() : tooManyLongCalls(max, firstFreeMs(begun), plan);
      }
      holders.add(outcome);
      release.use(places.take(counted, expectedMs));
      release.defer(() => holders.delete(outcome));
      return release;
    },
    /**
     * Passes the signal to `admit` if the caller runs a batch or review: `admit` may then wait. Without a signal, `admit` must
     * decide at once, because no batch or review is running, or too many requests are waiting.
     */
    async between<T>(
      subject: string,
      signal: AbortSignal,
      admit: (waiting: AbortSignal | undefined) => Promise<T>,
    ): Promise<T> {
      const isBetween = places.of(subject).length > 0 && waiting.of(subject).length < waitingMax;
      if (!isBetween) {
        return admit(undefined);
      }
      using _ = waiting.take(subject, 0);
      return await admit(signal);
    },
  };
}

function tooManyTogether(): KibitzError {
  const detail = `This node runs its maximum of ${unlimitedMax} batches and reviews already. Retry later.`;
  return new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
}
