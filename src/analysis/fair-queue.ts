export interface Waiting<T> {
  /** The flow for which the work counts: a client, or a batch. */
  readonly flow: string;
  /** Returns the expected time at this moment, so that estimates of waiting work improve with what is learnt meanwhile. */
  costMs(): number;
  /** The time of arrival plus the cost. The least comes first: short work overtakes long work, but does not starve it. */
  readonly dueMs: number;
  readonly value: T;
}

export interface WorkBefore {
  readonly count: number;
  readonly workMs: number;
}

/** Flows share the slots evenly by cost. Short work goes ahead of long work without starving it, also within a flow. */
export interface FairQueue<T> {
  add(waiting: Waiting<T>): void;
  /** Does nothing if the work does not wait any more. */
  remove(waiting: Waiting<T>): void;
  take(): Waiting<T> | undefined;
  /** Estimates the work that is served before this work if nothing else comes. This work need not be in the queue. */
  before(waiting: Waiting<unknown>): WorkBefore;
}

interface Flow<T> {
  /** The virtual time at which the first work of the flow starts to count. */
  startMs: number;
  /** True if some work of the flow was served since the flow began to wait. */
  isServed: boolean;
  /** The waiting work, the soonest due first. */
  readonly waiting: Waiting<T>[];
}

/**
 * Self-clocked fair queueing: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994. The work
 * with the least tag is served first: tag = max(virtual time, last tag of the flow) + cost, and virtual time is the tag of the
 * work that was served last. Virtual time advances with every piece of work, so long work is served in the end.
 *
 * Unlike in the paper, short work overtakes long work of its flow, and then has the tag of work that came when the long work did.
 * That tag may be less than virtual time, which must not go back to it, or the next client would be served before all that wait.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const flows = new Map<string, Flow<T>>();
  let virtualMs = 0;

  /** Takes the flow with the least tag; if equal, one not yet served: a new client waits only for the running search. */
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
