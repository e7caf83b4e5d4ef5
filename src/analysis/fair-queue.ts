export interface Waiting<T> {
  readonly flow: string;
  /** Returns the expected time in milliseconds. The estimate may change while the work waits. */
  costMs(): number;
  /**
   * The arrival time plus the expected time. In a flow, the work with the lowest value is served first.
   * This order prevents that short work delays long work forever.
   */
  readonly dueMs: number;
  readonly value: T;
}

export interface WorkBefore {
  readonly count: number;
  readonly workMs: number;
}

/** Divides the slots evenly between flows. Short work overtakes long work, but long work is always served eventually. */
export interface FairQueue<T> {
  add(waiting: Waiting<T>): void;
  remove(waiting: Waiting<T>): void;
  take(): Waiting<T> | undefined;
  /** Returns the work that is served before `waiting` if no more work arrives. `waiting` does not need to be in the queue. */
  before(waiting: Waiting<unknown>): WorkBefore;
}

interface Flow<T> {
  /** The virtual time at which the next work of the flow begins. {@link createFairQueue} explains virtual time. */
  startMs: number;
  isServed: boolean;
  readonly waiting: Waiting<T>[];
}

/**
 * Self-clocked fair queueing: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994.
 * - The tag of a piece of work is max(virtual time, last tag of the flow) + cost. The least tag is served first.
 * - The virtual time is the tag of the work that was served last.
 * Unlike in the paper, short work may overtake long work of its flow, and its tag may be less than the virtual time.
 * The virtual time must not decrease: otherwise, a new client would be served before all waiting clients.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const flows = new Map<string, Flow<T>>();
  let virtualMs = 0;

  /** If two flows have the same tag, returns a flow that was not served yet, so that new clients wait less. */
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
