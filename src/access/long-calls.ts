import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { createPlaces } from "../storage/memory/places.ts";
import type { Account } from "./account.ts";
import { firstFreeMs, tooManyLongCalls } from "./limit-errors.ts";

/** A caller's waiting requests take memory, and a page or an agent sends only a few at a time. */
const waitingMax = 4;

/** The limit of all callers together whose plan has none: a review of 600 plies keeps 3 MB of positions until it ends. */
const unlimitedMax = 64;

/** All callers whose plan has no limit are counted together under this name. */
const unlimited = "callers without a limit";

/** The duration of a review of 40 moves at depth 14 on two slots. */
const expectedMs = 10_000;

/**
 * A caller may have as many batches and reviews as its plan allows searches, because each keeps its request in memory. If they
 * use all searches, a single request waits for one to end, or it would be rejected for as long as they last.
 */
export function createLongCalls() {
  const places = createPlaces();
  const waiting = createPlaces();
  const holders = new WeakSet<RequestOutcome>();
  return {
    /** A call keeps the place that it got before its body was read. Throws `concurrency_limited` or `overloaded`. */
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
    /** A few single requests may wait beside a batch or review of their caller. If `admit` gets no signal, it does not wait. */
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
