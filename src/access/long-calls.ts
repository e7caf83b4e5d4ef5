import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { createPlaces } from "../storage/memory/places.ts";
import type { Account } from "./account.ts";
import { firstFreeMs, tooManyLongCalls } from "./limit-errors.ts";

/** Requests of one caller that wait at a time: a page or an agent has few, and each takes memory. */
const waitingMax = 4;

/**
 * Batches and reviews at a time of all callers whose plan has no limit, as in `open` mode. A review of 600 plies comes as 2 kB, and
 * keeps 3 MB of positions until it ends.
 */
const unlimitedMax = 64;

/** The callers whose plan has no limit are counted together, under this name. */
const unlimited = "callers without a limit";

/** Expected duration of a batch or review, in milliseconds: a review of 40 moves at depth 14 on two slots. */
const expectedMs = 10_000;

/**
 * Counts batches and reviews under way on this node, by caller. A caller has as many as its plan has searches at a time, because each
 * keeps its request in memory while it waits. They may use all searches of the plan, so a single request takes its turn
 * between theirs, and is not refused for as long as they last.
 */
export function createLongCalls() {
  const places = createPlaces();
  const waiting = createPlaces();
  /** The calls that have a place. */
  const holders = new WeakSet<RequestOutcome>();
  return {
    /**
     * Takes a place for a call until it is disposed of. A call that has its place already, because it was admitted before its
     * body was read, keeps that one.
     *
     * @throws KibitzError `concurrency_limited`; `overloaded` if callers without a limit have too many together
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
     * Admits a single request. If its caller has a batch or review under way, the request may wait until one of the caller's searches
     * has ended, up to a number of waiting requests.
     *
     * @param admit called to admit the request; its signal ends the wait, and without a signal it does not wait
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
