import type { FairQueue, Waiting, WorkBefore } from "./fair-queue.ts";

/** Where one piece of work waits: once in the flow of each of its callers, from when the first of them came. */
export interface Places {
  add(flow: string): void;
  remove(flow: string): void;
  /** What is served before the first of them to be served, if nothing else comes. */
  before(): WorkBefore;
  /** Takes all of them out of the queue. What is added afterwards is not. */
  close(): void;
}

interface Place {
  readonly waiting: Waiting<() => void>;
  callers: number;
}

const nothing: WorkBefore = { count: 0, workMs: 0 };

/**
 * @param costMs of the work, in milliseconds.
 * @param serve called when the turn of the first of the places has come.
 */
export function createPlaces(queue: FairQueue<() => void>, costMs: number, serve: () => void): Places {
  const byFlow = new Map<string, Place>();
  let closed = false;
  return {
    add(flow) {
      const known = byFlow.get(flow);
      if (known) {
        known.callers++;
      } else if (!closed) {
        const waiting = { flow, costMs, dueMs: performance.now() + costMs, value: serve };
        byFlow.set(flow, { waiting, callers: 1 });
        queue.add(waiting);
      }
    },
    remove(flow) {
      const place = byFlow.get(flow);
      if (place && --place.callers === 0) {
        byFlow.delete(flow);
        queue.remove(place.waiting);
      }
    },
    before() {
      const all = [...byFlow.values()].map(({ waiting }) => queue.before(waiting));
      return all.reduce((least, one) => (one.count < least.count ? one : least), all[0] ?? nothing);
    },
    close() {
      closed = true;
      for (const { waiting } of byFlow.values()) {
        queue.remove(waiting);
      }
      byFlow.clear();
    },
  };
}
