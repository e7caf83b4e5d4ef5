import { KibitzError } from "../errors/errors.ts";
import { restMs } from "./expected-time.ts";
import { createFairQueue, type WorkBefore } from "./fair-queue.ts";

export interface Scheduler {
  /** Calls `onWaiting` at once and then every second. Throws `overloaded` if the expected wait is too long. */
  enter(
    work: Work,
    signal: AbortSignal,
    onWaiting?: (readPosition: ReadQueuePosition) => void,
  ): Promise<Slot>;
  status(): SchedulerStatus;
}

export interface Work {
  readonly flow: string;
  /** Returns the expected time in milliseconds. The estimate may change while the work waits. */
  expectMs(): number;
}

/** Returns undefined if the work does not wait any more. */
export type ReadQueuePosition = () => QueuePosition | undefined;

export interface QueuePosition {
  /** 1 is the first position in the queue. The position may increase, because short searches overtake long searches. */
  readonly place: number;
  readonly expectedWaitMs: number;
}

/** Disposing of a slot gives the slot to the next work in the queue. */
export interface Slot extends Disposable {
  readonly queueMs: number;
}

/** `running` and `waiting` are current numbers. `admitted` and `refused` are totals since the start. */
interface SchedulerStatus {
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
  readonly admitted: number;
  readonly refused: number;
  /** The expected wait of a new client, in milliseconds. */
  readonly expectedWaitMs: number;
}

interface SchedulerOptions {
  readonly slots: number;
  /** New work with a longer expected wait is rejected. Work that already waits is never rejected. */
  readonly maxWaitMs: number;
}

/** The flow of an imaginary new client, for estimates. No real flow has an empty name. */
const newFlow = "";

const reportEveryMs = 1000;

interface Running {
  readonly startedAt: number;
  readonly expectedMs: number;
  /** An aborted search is expected to end at once. */
  readonly signal: AbortSignal;
}

export function createScheduler({ slots, maxWaitMs }: SchedulerOptions): Scheduler {
  const running = new Set<Running>();
  const queue = createFairQueue<() => void>();
  let waiting = 0;
  let admitted = 0;
  let refused = 0;

  function admit({ expectMs }: Work, askedAt: number, signal: AbortSignal): Slot {
    const run: Running = { startedAt: performance.now(), expectedMs: expectMs(), signal };
    running.add(run);
    admitted++;
    return {
      queueMs: Math.round(run.startedAt - askedAt),
      [Symbol.dispose]() {
        if (running.delete(run)) {
          queue.take()?.value();
        }
      },
    };
  }

  /** `before` is the queued work that gets a slot before the new work. */
  function expectedWaitMs(before: WorkBefore): number {
    const now = performance.now();
    let { workMs } = before;
    for (const { startedAt, expectedMs: runMs, signal } of running) {
      workMs += signal.aborted ? 0 : restMs(runMs, now - startedAt);
    }
    return workMs / slots;
  }

  return {
    status() {
      const counters = { slots, running: running.size, waiting, admitted, refused };
      if (running.size < slots) {
        return { ...counters, expectedWaitMs: 0 };
      }
      // Assume that the next search takes as long as the average of the running searches.
      const costMs = [...running].reduce((sum, { expectedMs }) => sum + expectedMs / running.size, 0);
      const next = { flow: newFlow, costMs: () => costMs, dueMs: 0, value: undefined };
      return { ...counters, expectedWaitMs: expectedWaitMs(queue.before(next)) };
    },
    async enter(work, signal, onWaiting = () => {}) {
      signal.throwIfAborted();
      const askedAt = performance.now();
      if (running.size < slots) {
        return admit(work, askedAt, signal);
      }
      const { promise, resolve, reject } = Promise.withResolvers<Slot>();
      const place = {
        flow: work.flow,
        costMs: work.expectMs,
        dueMs: askedAt + work.expectMs(),
        value: () => resolve(admit(work, askedAt, signal)),
      };
      const waitMs = expectedWaitMs(queue.before(place));
      if (waitMs > maxWaitMs) {
        refused++;
        throw overloaded(waitMs, maxWaitMs);
      }
      let isWaiting = true;
      const readPosition = () => {
        const before = queue.before(place);
        return isWaiting
          ? { place: before.count + 1, expectedWaitMs: Math.round(expectedWaitMs(before)) }
          : undefined;
      };
      const giveUp = () => {
        queue.remove(place);
        reject(signal.reason);
      };
      queue.add(place);
      waiting++;
      signal.addEventListener("abort", giveUp, { once: true });
      onWaiting(readPosition);
      const reporting = setInterval(onWaiting, reportEveryMs, readPosition);
      try {
        return await promise;
      } finally {
        isWaiting = false;
        waiting--;
        clearInterval(reporting);
        signal.removeEventListener("abort", giveUp);
      }
    },
  };
}

function overloaded(waitMs: number, maxWaitMs: number): KibitzError {
  const seconds = (ms: number) => Math.ceil(ms / 100) / 10;
  return new KibitzError(
    "overloaded",
    `All engines are busy: this request would wait about ${seconds(waitMs)} s, and the maximum here is ${seconds(maxWaitMs)} s. Try again later, or ask for a lower depth, fewer lines or a shorter movetime_ms: short searches wait less.`,
    // Suggest a retry when the wait has fallen to half of the maximum, because most earlier retries would fail.
    { retryAfterMs: Math.max(1000, Math.ceil(waitMs - maxWaitMs / 2)) },
  );
}
