/** Work that waits, with what is to be done when its turn has come. */
export interface Waiting<T> {
  readonly flow: string;
  readonly costMs: number;
  /** When it came, plus its cost: its place in its flow. Short work goes first, and long work ages. */
  readonly dueMs: number;
  readonly value: T;
}

/**
 * Work of several flows, in the order in which it is to be served: flows share evenly by cost, and short
 * work goes ahead of long without starving it, between flows and within one.
 */
export interface FairQueue<T> {
  readonly length: number;
  add(waiting: Waiting<T>): void;
  /** Takes out who does not want to wait any more. Their share goes to the others. */
  remove(waiting: Waiting<T>): void;
  take(): Waiting<T> | undefined;
  /** Milliseconds of work that would be served before this, if nothing else came. */
  workBefore(asked: Omit<Waiting<T>, "value">): number;
}

/** A flow that has work waiting. */
interface Flow<T> {
  /** Virtual time at which its first work starts to count. */
  startMs: number;
  /** Soonest due first. */
  readonly waiting: Waiting<T>[];
}

/**
 * Self-clocked fair queueing: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
 * INFOCOM 1994. Served is the least tag = max(virtual time, last tag of the flow) + cost, and virtual time is
 * the tag of what was served last. So it moves on with every piece of work, also where each comes from a caller
 * of its own, and the tag of a long one comes up in time; and a flow that has nothing waiting has no state.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const flows = new Map<string, Flow<T>>();
  let virtualMs = 0;
  let length = 0;

  /** The flow whose first work has the least tag; among equals the one that has waited longest. */
  function nextFlow(): readonly [name: string, flow: Flow<T>, tagMs: number] | undefined {
    let next: readonly [string, Flow<T>, number] | undefined;
    for (const [name, flow] of flows) {
      const tagMs = flow.startMs + (flow.waiting[0]?.costMs ?? 0);
      if (next === undefined || tagMs < next[2]) {
        next = [name, flow, tagMs];
      }
    }
    return next;
  }

  return {
    get length() {
      return length;
    },
    add(waiting) {
      const flow = flows.get(waiting.flow) ?? { startMs: virtualMs, waiting: [] };
      flows.set(waiting.flow, flow);
      const before = flow.waiting.findLastIndex(({ dueMs }) => dueMs <= waiting.dueMs);
      flow.waiting.splice(before + 1, 0, waiting);
      length++;
    },
    remove(waiting) {
      const flow = flows.get(waiting.flow);
      const at = flow?.waiting.indexOf(waiting) ?? -1;
      if (flow === undefined || at < 0) {
        return;
      }
      flow.waiting.splice(at, 1);
      length--;
      if (flow.waiting.length === 0) {
        flows.delete(waiting.flow);
      }
    },
    take() {
      const next = nextFlow();
      if (next === undefined) {
        return undefined;
      }
      const [name, flow, tagMs] = next;
      const first = flow.waiting.shift();
      length--;
      virtualMs = tagMs;
      flow.startMs = tagMs;
      if (flow.waiting.length === 0) {
        flows.delete(name);
      }
      return first;
    },
    workBefore({ flow: name, costMs, dueMs }) {
      const own = flows.get(name);
      const beforeInFlow = sumWhile(own?.waiting ?? [], (_, waiting) => waiting.dueMs <= dueMs);
      const tagMs = (own?.startMs ?? virtualMs) + beforeInFlow + costMs;
      let before = beforeInFlow;
      for (const flow of flows.values()) {
        if (flow !== own) {
          before += sumWhile(flow.waiting, (sumMs) => flow.startMs + sumMs <= tagMs);
        }
      }
      return before;
    },
  };
}

/** The cost of the first ones, up to the one with which it goes too far. */
function sumWhile<T>(
  waiting: readonly Waiting<T>[],
  counts: (sumMs: number, last: Waiting<T>) => boolean,
): number {
  let sumMs = 0;
  for (const one of waiting) {
    if (!counts(sumMs + one.costMs, one)) {
      break;
    }
    sumMs += one.costMs;
  }
  return sumMs;
}
