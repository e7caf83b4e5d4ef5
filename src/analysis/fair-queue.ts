export interface Waiting {
  readonly flow: string;
  /** The expected time in milliseconds. The estimate may change while the work waits. */
  readonly costMs: number;
  /**
   * The arrival time plus the expected time. In a flow, the work with the lowest value is served first.
   * This order prevents that short work delays long work forever.
   */
  readonly dueMs: number;
}

interface WorkBefore {
  readonly count: number;
  readonly workMs: number;
}

/**
 * Divides the slots evenly between flows. Short work overtakes long work, but long work is always served eventually.
 * `order` sorts the queue. The other methods walk through the queue at most once: 10,000 waiting searches take 0.1 ms.
 */
export interface FairQueue<T extends Waiting> {
  add(waiting: T): void;
  remove(waiting: T): void;
  take(): T | undefined;
  /** Returns the work that is served before `waiting` if no more work arrives. `waiting` does not need to be in the queue. */
  before(waiting: Waiting): WorkBefore;
  /** Returns all work in the order in which it is served if no more work arrives. */
  order(): readonly T[];
}

interface Flow<T extends Waiting> {
  /** The virtual time at which the next work of the flow begins. {@link createFairQueue} explains virtual time. */
  startMs: number;
  isServed: boolean;
  readonly waiting: T[];
}

interface Tagged<T extends Waiting> {
  readonly waiting: T;
  readonly tagMs: number;
  /** True if the flow was served before. */
  readonly isServed: boolean;
}

/**
 * Self-clocked fair queueing: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994.
 * - The tag of a piece of work is max(virtual time, last tag of the flow) + cost. The least tag is served first.
 * - The virtual time is the tag of the work that was served last.
 * Unlike in the paper, short work may overtake long work of its flow, and its tag may be less than the virtual time.
 * The virtual time must not decrease: otherwise, a new client would be served before all waiting clients.
 */
export function createFairQueue<T extends Waiting>(): FairQueue<T> {
  const flows = new Map<string, Flow<T>>();
  let virtualMs = 0;

  function nextFlow(): readonly [flow: Flow<T>, first: Tagged<T>] | undefined {
    let next: readonly [Flow<T>, Tagged<T>] | undefined;
    for (const flow of flows.values()) {
      const first = flow.waiting[0] as T;
      const tagMs = flow.startMs + first.costMs;
      if (next === undefined || tagMs <= next[1].tagMs) {
        const tagged = { waiting: first, tagMs, isServed: flow.isServed };
        next = next === undefined || compare(tagged, next[1]) < 0 ? [flow, tagged] : next;
      }
    }
    return next;
  }

  function remove(waiting: T): void {
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
      const [flow, { waiting, tagMs }] = next;
      virtualMs = Math.max(virtualMs, tagMs);
      flow.startMs = tagMs;
      flow.isServed = true;
      remove(waiting);
      return waiting;
    },
    before(asked) {
      const own = flows.get(asked.flow);
      let count = 0;
      let workMs = 0;
      for (const other of own?.waiting ?? []) {
        if (other.dueMs > asked.dueMs) {
          break;
        }
        if (other !== asked) {
          count++;
          workMs += other.costMs;
        }
      }
      const tagMs = (own?.startMs ?? virtualMs) + workMs + asked.costMs;
      for (const flow of flows.values()) {
        let otherMs = flow.startMs;
        for (const { costMs } of flow === own ? [] : flow.waiting) {
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
    order() {
      const all: Tagged<T>[] = [];
      for (const { startMs, isServed, waiting } of flows.values()) {
        let tagMs = startMs;
        for (const [index, one] of waiting.entries()) {
          tagMs += one.costMs;
          all.push({ waiting: one, tagMs, isServed: isServed || index > 0 });
        }
      }
      return all.sort(compare).map(({ waiting }) => waiting);
    },
  };
}

/** If two flows have the same tag, a flow that was not served yet is first, so that new clients wait less. */
function compare(a: Tagged<Waiting>, b: Tagged<Waiting>): number {
  return a.tagMs - b.tagMs || Number(a.isServed) - Number(b.isServed);
}
