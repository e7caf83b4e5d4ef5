/**
 * Returns the name of a flow of the fair queue. The single requests of an account share a flow. Each batch or review has a flow
 * of its own, so that single requests of the same account do not wait for the whole batch or review.
 */
export function flowOf(account: string, longCall?: string): string {
  return longCall === undefined ? account : `${account}#${longCall}`;
}

/** An account is an address or the id of an API key, and contains no `#`. */
export function accountOfFlow(flow: string): string {
  const end = flow.indexOf("#");
  return end < 0 ? flow : flow.slice(0, end);
}

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

/** Divides the slots evenly between flows. Short work overtakes long work, but long work is always served eventually. */
export interface FairQueue<T extends Waiting> {
  add(waiting: T): void;
  remove(waiting: T): void;
  take(): T | undefined;
  /**
   * Returns the work that is served before `waiting` if no more work arrives. `waiting` does not need to be in the queue. If much
   * work waits, the result is approximate.
   */
  before(waiting: Waiting): WorkBefore;
  /** Returns all work in the order in which it is served if no more work arrives. */
  order(): readonly T[];
  /** Call this after the expected times of the waiting work have changed. */
  priced(): void;
}

interface Flow<T extends Waiting> {
  /** The virtual time at which the next work of the flow begins. {@link createFairQueue} explains virtual time. */
  startMs: number;
  /** The tag of the last waiting work. */
  endMs: number;
  isServed: boolean;
  readonly waiting: T[];
}

interface Tagged<T extends Waiting> {
  readonly waiting: T;
  readonly tagMs: number;
  /** True if the flow was served before. */
  readonly isServed: boolean;
}

/** `before` is exact if at most this number of searches waits. Otherwise, it uses an earlier order of the queue. */
const exactMax = 100;
/** The queue is sorted again after this fraction of the queue has come or gone. */
const outdatedShare = 1 / 16;

/** The tags of the whole queue in order, and the sum of the costs before each tag. */
interface Sorted {
  readonly tags: readonly number[];
  readonly workMs: readonly number[];
  /** The work of these tags, without the work that has been served since. The served work was first in the order. */
  readonly work: Set<Waiting>;
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
  let size = 0;
  let sorted: Sorted | undefined;
  /** The number of searches that came or went after the queue was sorted. */
  let changes = 0;

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
    if (flow === undefined || at < 0) {
      return;
    }
    flow.waiting.splice(at, 1);
    flow.endMs -= waiting.costMs;
    size--;
    changes++;
    if (flow.waiting.length === 0) {
      flows.delete(waiting.flow);
    }
  }

  function tagged(): Tagged<T>[] {
    const all: Tagged<T>[] = [];
    for (const flow of flows.values()) {
      let tagMs = flow.startMs;
      for (const [index, waiting] of flow.waiting.entries()) {
        tagMs += waiting.costMs;
        all.push({ waiting, tagMs, isServed: flow.isServed || index > 0 });
      }
      flow.endMs = tagMs;
    }
    return all.sort(compare);
  }

  function sort(): Sorted {
    const workMs = [0];
    const tags = [];
    const work = new Set<Waiting>();
    for (const { waiting, tagMs } of tagged()) {
      work.add(waiting);
      tags.push(tagMs);
      workMs.push((workMs.at(-1) ?? 0) + waiting.costMs);
    }
    changes = 0;
    return { tags, workMs, work };
  }

  /** Searches the last order of the queue. */
  function roughlyBefore({ flow, costMs, dueMs }: Waiting): WorkBefore {
    if (sorted === undefined || changes > size * outdatedShare) {
      sorted = sort();
    }
    const own = flows.get(flow);
    let startMs = own?.endMs ?? virtualMs;
    for (let at = (own?.waiting.length ?? 0) - 1; at >= 0; at--) {
      const later = own?.waiting[at] as T;
      if (later.dueMs <= dueMs) {
        break;
      }
      startMs -= later.costMs;
    }
    const { tags, workMs, work } = sorted;
    const served = tags.length - work.size;
    const end = Math.max(served, firstFrom(tags, startMs + costMs));
    return { count: end - served, workMs: (workMs[end] ?? 0) - (workMs[served] ?? 0) };
  }

  return {
    add(waiting) {
      const flow = flows.get(waiting.flow) ?? {
        startMs: virtualMs,
        endMs: virtualMs,
        isServed: false,
        waiting: [],
      };
      size++;
      changes++;
      flows.set(waiting.flow, flow);
      const before = flow.waiting.findLastIndex(({ dueMs }) => dueMs <= waiting.dueMs);
      flow.waiting.splice(before + 1, 0, waiting);
      flow.endMs += waiting.costMs;
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
      flow.endMs += waiting.costMs;
      flow.isServed = true;
      remove(waiting);
      sorted?.work.delete(waiting);
      return waiting;
    },
    before(asked) {
      if (size > exactMax) {
        return roughlyBefore(asked);
      }
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
    order: () => tagged().map(({ waiting }) => waiting),
    priced() {
      sorted = undefined;
    },
  };
}

/** If two flows have the same tag, a flow that was not served yet is first, so that new clients wait less. */
function compare(a: Tagged<Waiting>, b: Tagged<Waiting>): number {
  return a.tagMs - b.tagMs || Number(a.isServed) - Number(b.isServed);
}

/** Returns the number of values that are less than `limit`. */
function firstFrom(sortedValues: readonly number[], limit: number): number {
  let [from, to] = [0, sortedValues.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sortedValues[middle] as number) < limit) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}
