import { KibitzError } from "../errors/errors.ts";
import { restMs } from "./expected-time.ts";
import { createFairQueue, type Waiting } from "./fair-queue.ts";

/** Hands out the node's slots: how many searches run at a time. */
export interface Scheduler {
  /**
   * Waits for a slot. Flows share the slots evenly, short work goes ahead of long, and none starves.
   *
   * @throws KibitzError `overloaded`, at once, when the work is expected to wait too long; the reason of `signal`.
   */
  enter(work: Work, signal: AbortSignal): Promise<Slot>;
  readonly counters: SchedulerCounters;
}

/** Work that asks for a slot. */
export interface Work {
  /** Whose it is: an address, or a batch of one. */
  readonly flow: string;
  /** Milliseconds that it is expected to hold the slot. */
  readonly expectedMs: number;
}

/** A place to search in. Disposing of it lets the next one in, once. */
export interface Slot extends Disposable {
  /** Milliseconds waited for it. */
  readonly queueMs: number;
}

/** `running` and `waiting` are now, the others since the start. */
export interface SchedulerCounters {
  readonly running: number;
  readonly waiting: number;
  readonly admitted: number;
  readonly refused: number;
}

export interface SchedulerOptions {
  /** Searches at a time. */
  readonly slots: number;
  /** Longest expected wait in milliseconds. What would wait longer is refused; what was let in stays. */
  readonly maxWaitMs: number;
}

interface Running {
  readonly startedAt: number;
  readonly expectedMs: number;
}

export function createScheduler({ slots, maxWaitMs }: SchedulerOptions): Scheduler {
  const running = new Set<Running>();
  const queue = createFairQueue<() => void>();
  let admitted = 0;
  let refused = 0;

  function admit({ expectedMs }: Work, askedAt: number): Slot {
    const run: Running = { startedAt: performance.now(), expectedMs };
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

  /** Milliseconds until a slot would be free for work that came now. */
  function expectedWaitMs({ flow, expectedMs }: Work, now: number): number {
    let workMs = queue.workBefore({ flow, costMs: expectedMs, dueMs: now + expectedMs });
    for (const { startedAt, expectedMs: runMs } of running) {
      workMs += restMs(runMs, now - startedAt);
    }
    return workMs / slots;
  }

  return {
    get counters() {
      return { running: running.size, waiting: queue.length, admitted, refused };
    },
    async enter(work, signal) {
      signal.throwIfAborted();
      const askedAt = performance.now();
      if (running.size < slots) {
        return admit(work, askedAt);
      }
      const waitMs = expectedWaitMs(work, askedAt);
      if (waitMs > maxWaitMs) {
        refused++;
        throw overloaded(waitMs, maxWaitMs);
      }
      return new Promise<Slot>((resolve, reject) => {
        const waiting: Waiting<() => void> = {
          flow: work.flow,
          costMs: work.expectedMs,
          dueMs: askedAt + work.expectedMs,
          // Runs inside another one's leaving: the slot is this one's before anybody else can ask.
          value() {
            signal.removeEventListener("abort", giveUp);
            resolve(admit(work, askedAt));
          },
        };
        const giveUp = () => {
          queue.remove(waiting);
          reject(signal.reason);
        };
        queue.add(waiting);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}

function overloaded(waitMs: number, maxWaitMs: number): KibitzError {
  const seconds = (ms: number) => Math.ceil(ms / 100) / 10;
  return new KibitzError(
    "overloaded",
    `All engines are busy: this request would wait about ${seconds(waitMs)} s, and the maximum here is ${seconds(maxWaitMs)} s. Try again later, or ask for a lower depth, fewer lines or a shorter movetime_ms: short searches wait less.`,
    // When half of the longest wait has drained: if all came back for the first free place, one would get it.
    { retryAfterMs: Math.max(1000, Math.ceil(waitMs - maxWaitMs / 2)) },
  );
}
