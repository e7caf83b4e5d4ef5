import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { createPlaces } from "../storage/memory/places.ts";
import type { Account } from "./account.ts";
import { firstFreeMs, tooManyLongCalls } from "./limit-errors.ts";

/** The maximum number of waiting requests of one caller. A page or an agent sends only a few at a time, and each takes memory. */
const waitingMax = 4;

/**
 * The maximum number of batches and reviews in flight of all callers whose plan has no limit, as in `open` mode. A review of 600
 * plies arrives as 2 kB, and keeps 3 MB of positions until it ends.
 */
const unlimitedMax = 64;

/** The name under which all callers whose plan has no limit are counted together. */
const unlimited = "callers without a limit";

/** The expected duration of a batch or review, in milliseconds: that of a review of 40 moves at depth 14 on two slots. */
const expectedMs = 10_000;

/**
 * Counts the batches and reviews in flight on this node, by caller. A caller may have as many as its plan allows searches,
 * because each keeps its request in memory while it waits. Batches and reviews may use all searches of the plan. A single request
 * then waits for one of these searches to end. Otherwise it would be rejected for as long as the batch or review lasts.
 */
export function createLongCalls() {
  const places = createPlaces();
  const waiting = createPlaces();
  /** The calls that have a place. */
  const holders = new WeakSet<RequestOutcome>();
  return {
    /**
     * Takes a place for a call until it is disposed of. A call that already has a place, because it was admitted before its body
     * was read, keeps that place.
     *
     * @throws KibitzError `concurrency_limited`; `overloaded` if callers without a limit have too many such calls together
     */
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
     * Admits a single request. If its caller has a batch or review in flight, the request may wait until one of the caller's
     * searches has ended. Only a few requests of a caller may wait in this way.
     *
     * @param admit admits the request; the given signal ends the wait, and without a signal the request does not wait
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
