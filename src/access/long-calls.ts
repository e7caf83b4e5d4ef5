import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { createPlaces } from "../storage/memory/places.ts";
import type { Account } from "./account.ts";
import { firstFreeMs, tooManyLongCalls } from "./limit-errors.ts";

/** The maximum number of waiting requests of a caller. Each waiting request uses memory. */
const waitingMax = 4;

/** The maximum number of batches and reviews of all callers without a limit. A review of 600 plies uses 3 MB of memory. */
const unlimitedMax = 64;

const unlimited = "callers without a limit";

/** The expected time of a batch or review in milliseconds: a review of 40 moves at depth 14 on two slots. */
const expectedMs = 10_000;

/** Limits the concurrent batches and reviews of a caller, because a batch or review uses memory until the call ends. */
export function createLongCalls() {
  const places = createPlaces();
  const waiting = createPlaces();
  const holders = new WeakSet<RequestOutcome>();
  return {
    /** Throws `concurrency_limited` or `overloaded`. Does nothing if the call with this `outcome` is already counted. */
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
     * If the caller has a batch or review in flight, calls `enter` with `signal`. `enter` may then wait until a search ends.
     * If the caller has no such call in flight or too many waiting requests, calls `enter` with undefined.
     */
    async enterSingle<T>(
      subject: string,
      signal: AbortSignal,
      enter: (waiting: AbortSignal | undefined) => Promise<T>,
    ): Promise<T> {
      const mayWait = places.of(subject).length > 0 && waiting.of(subject).length < waitingMax;
      if (!mayWait) {
        return enter(undefined);
      }
      using _ = waiting.take(subject, 0);
      return await enter(signal);
    },
  };
}

function tooManyTogether(): KibitzError {
  const detail = `This node runs its maximum of ${unlimitedMax} batches and reviews already. Retry later.`;
  return new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
}
