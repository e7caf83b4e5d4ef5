/** Work that waits. */
export interface Waiting<T> {
  /** The caller, or the batch, that the work counts for. */
  readonly flow: string;
  /** Expected milliseconds, as known at the time of the call: all waiting work follows what was learnt meanwhile. */
  costMs(): number;
  /** The time of arrival plus the cost. In a flow, the work with the least is served first: short work overtakes long, and long work ages. */
  readonly dueMs: number;
  readonly value: T;
}

/** The work that is served before other work. */
export interface WorkBefore {
  readonly count: number;
  /** Its expected milliseconds in all. */
  readonly workMs: number;
}

/**
 * A queue in which flows share evenly by cost. Short work goes ahead of long without starving it, between flows and within one.
 */
export interface FairQueue<T> {
  add(waiting: Waiting<T>): void;
  /** Removes work whose caller has left. Does nothing if it does not wait any more. */
  remove(waiting: Waiting<T>): void;
  take(): Waiting<T> | undefined;
  /** Estimates the work that is served before this, which need not be in the queue, if nothing else comes. */
  before(waiting: Waiting<unknown>): WorkBefore;
}

/** A flow that has work waiting. */
interface Flow<T> {
  /** Virtual time at which its first work starts to count. */
  startMs: number;
  /** True if some of its work was served since it began to wait. */
  isServed: boolean;
  /** Soonest due first. */
  readonly waiting: Waiting<T>[];
}

/**
 * Self-clocked fair queueing: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
 * INFOCOM 1994. The work with the least tag is served, where tag = max(virtual time, last tag of the flow) + cost, and virtual time is the
 * tag of the work that was served last. Virtual time moves on with every piece of work, even if each comes from a caller of its own, so
 * that the turn of long work comes. A flow without waiting work has no state.
 *
 * One thing differs: short work overtakes long work of its flow, and then has the tag of work that came when the long one did. That may be
 * less than virtual time, which must not fall back to it: otherwise the next caller would be served before all who wait.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const flows = new Map<string, Flow<T>>();
  let virtualMs = 0;

  /**
   * Finds the flow whose first work has the least tag. Among equals, it is a flow of which nothing was served yet, so that a new caller waits
   * for the running search and not for one more of a caller with many; then the flow that has waited longest.
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
