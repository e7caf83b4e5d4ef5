/** Work that waits in a queue. */
export interface Waiting<T> {
  /** The flow for which the work counts: a client, or a batch. */
  readonly flow: string;
  /**
   * Returns the expected time of the work in milliseconds, as known at the time of the call, so that estimates of waiting work
   * improve with what is learnt meanwhile.
   */
  costMs(): number;
  /**
   * The time of arrival plus the cost, in milliseconds. Within a flow, the work with the least `dueMs` is served first, so that
   * short work overtakes long work, but does not starve it.
   */
  readonly dueMs: number;
  readonly value: T;
}

/** The amount of work that is served before some other work. */
export interface WorkBefore {
  readonly count: number;
  /** The expected time of the earlier work in total, in milliseconds. */
  readonly workMs: number;
}

/**
 * A queue in which flows share the slots evenly by cost. Short work goes ahead of long work without starving it, between flows
 * and within a flow.
 */
export interface FairQueue<T> {
  add(waiting: Waiting<T>): void;
  /** Removes work whose caller has left. Does nothing if the work does not wait any more. */
  remove(waiting: Waiting<T>): void;
  take(): Waiting<T> | undefined;
  /** Estimates the work that is served before the given work if nothing else comes. The given work need not be in the queue. */
  before(waiting: Waiting<unknown>): WorkBefore;
}

/** A flow that has work waiting. */
interface Flow<T> {
  /** The virtual time at which the first work of the flow starts to count. */
  startMs: number;
  /** True if some work of the flow was served since the flow began to wait. */
  isServed: boolean;
  /** The waiting work of the flow, the soonest due first. */
  readonly waiting: Waiting<T>[];
}

/**
 * Creates a queue with self-clocked fair queueing: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
 * INFOCOM 1994. The work with the least tag is served first, where tag = max(virtual time, last tag of the flow) + cost, and
 * virtual time is the tag of the work that was served last. Virtual time advances with every piece of work, even if each comes
 * from another client, so that long work is served in the end. A flow without waiting work has no state.
 *
 * This queue differs from the paper in one point: short work overtakes long work of its flow, and then has the tag of work that
 * came when the long work did. That tag may be less than virtual time. Virtual time must not go back to it, because then the next
 * client would be served before all that wait.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const flows = new Map<string, Flow<T>>();
  let virtualMs = 0;

  /**
   * Finds the flow whose first work has the least tag. If several have, a flow of which nothing was served yet comes first, so
   * that a new client waits only for the running search and not for another one of a client with many; then comes the flow that
   * has waited longest.
   */
  function nextFlow(): readonly [flow: Flow<T>, first: Waiting<T>, tagMs: number] | undefined {
    let next: readonly [Flow<T>, Waiting<T>, number] | undefined;
    for (const flow of flows.values()) {
      const [first] = flow.waiting;
      const tagMs = flow.startMs + (first?.costMs() ?? 0);
      const isBefore =
        next === undefined || tagMs < next[2] || (tagMs === next[2] && next[0].isServed && !flow.isServed);
      if (first && isBefore) {
        next = [flow, first, tagMs];
      }
    }
    return next;
  }

  function remove(waiting: Waiting<T>): void {
    const flow = flows.get(waiting.flow);
    const at = flow?.waiting.indexOf(waiting) ?? -1;
    if (at >= 0) {
      flow?.waiting.splice(at, 1);
    }
    if (flow?.waiting.length === 0) {
      flows.delete(waiting.flow);
    }
  }

  return {
    add(waiting) {
      const flow = flows.get(waiting.flow) ?? { startMs: virtualMs, isServed: false, waiting: [] };
      flows.set(waiting.flow, flow);
      const before = flow.waiting.findLastIndex(({ dueMs }) => dueMs <= waiting.dueMs);
      flow.waiting.splice(before + 1, 0, waiting);
    },
    remove,
    take() {
      const next = nextFlow();
      if (next === undefined) {
        return undefined;
      }
      const [flow, first, tagMs] = next;
      virtualMs = Math.max(virtualMs, tagMs);
      flow.startMs = tagMs;
      flow.isServed = true;
      remove(first);
      return first;
    },
    before(asked) {
      const own = flows.get(asked.flow);
      let count = 0;
      let workMs = 0;
      for (const other of own?.waiting ?? []) {
        if (other !== asked && other.dueMs <= asked.dueMs) {
          count++;
          workMs += other.costMs();
        }
      }
      const tagMs = (own?.startMs ?? virtualMs) + workMs + asked.costMs();
      for (const flow of flows.values()) {
        let otherMs = flow.startMs;
        for (const other of flow === own ? [] : flow.waiting) {
          const costMs = other.costMs();
          otherMs += costMs;
          if (otherMs >= tagMs) {
            break;
          }
          count++;
          workMs += costMs;
        }
      }
      return { count, workMs };
    },
  };
}
