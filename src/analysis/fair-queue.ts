/** Work that waits. */
export interface Waiting<T> extends Asked {
  readonly value: T;
}

/** Work that waits, or that might. */
interface Asked {
  readonly flow: string;
  /** Milliseconds, by what is known at the time of the call: work that waits and equal work that comes later cost the same. */
  costMs(): number;
  /** The time of arrival plus the cost. Within a flow the least is served first, so that short work goes ahead of long, and long work ages. */
  readonly dueMs: number;
}

/**
 * A queue of the work of several flows. Flows share evenly by cost, and short work goes ahead of long without starving it, between flows
 * and within one.
 */
export interface FairQueue<T> {
  readonly length: number;
  add(waiting: Waiting<T>): void;
  /** Removes work whose caller has left. The others get its share: no flow keeps a place for later. */
  remove(waiting: Waiting<T>): void;
  take(): Waiting<T> | undefined;
  /** The work that would be served before this, which may be in the queue, if nothing else came. */
  before(asked: Asked): WorkBefore;
}

/** Work that is served before other work. */
export interface WorkBefore {
  readonly count: number;
  /** Its cost in all. */
  readonly workMs: number;
}

/** A flow that has work waiting. */
interface Flow<T> {
  /** Virtual time at which its first work starts to count. */
  startMs: number;
  /** True if some of its work was served since it began to wait. */
  isServed: boolean;
  /** Soonest due first. */
  readonly waiting: Queued<T>[];
}

interface Queued<T> {
  readonly asked: Waiting<T>;
  /** Virtual time of its arrival. */
  readonly cameMs: number;
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
  let length = 0;

  /**
   * The flow whose first work has the least tag. Among equals, a flow of which nothing was served yet, so that a new caller waits for the
   * running search and not for one more of a caller with many; then the one that has waited longest.
   */
  function nextFlow(): readonly [name: string, flow: Flow<T>, tagMs: number] | undefined {
    let next: readonly [string, Flow<T>, number] | undefined;
    for (const [name, flow] of flows) {
      const tagMs = flow.startMs + (flow.waiting[0]?.asked.costMs() ?? 0);
      const isBefore = next === undefined || tagMs < next[2];
      if (isBefore || (tagMs === next?.[2] && next[1].isServed && !flow.isServed)) {
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
      const flow = flows.get(waiting.flow) ?? { startMs: virtualMs, isServed: false, waiting: [] };
      flows.set(waiting.flow, flow);
      const before = flow.waiting.findLastIndex(({ asked }) => asked.dueMs <= waiting.dueMs);
      flow.waiting.splice(before + 1, 0, { asked: waiting, cameMs: virtualMs });
      length++;
    },
    remove(waiting) {
      const flow = flows.get(waiting.flow);
      const at = flow?.waiting.findIndex(({ asked }) => asked === waiting) ?? -1;
      if (flow === undefined || at < 0) {
        return;
      }
      flow.waiting.splice(at, 1);
      length--;
      if (flow.waiting.length === 0) {
        flows.delete(waiting.flow);
        return;
      }
      // The flow gets no credit for the time in which only the removed work has waited.
      const oldestMs = flow.waiting.reduce((least, { cameMs }) => Math.min(least, cameMs), virtualMs);
      flow.startMs = Math.max(flow.startMs, oldestMs);
    },
    take() {
      const next = nextFlow();
      if (next === undefined) {
        return undefined;
      }
      const [name, flow, tagMs] = next;
      const first = flow.waiting.shift();
      length--;
      virtualMs = Math.max(virtualMs, tagMs);
      flow.startMs = tagMs;
      flow.isServed = true;
      if (flow.waiting.length === 0) {
        flows.delete(name);
      }
      return first?.asked;
    },
    before(asked) {
      const own = flows.get(asked.flow);
      const inFlow = sumWhile(
        own?.waiting ?? [],
        (_, one) => one.asked !== asked && one.asked.dueMs <= asked.dueMs,
      );
      const tagMs = (own?.startMs ?? virtualMs) + inFlow.workMs + asked.costMs();
      let { count, workMs } = inFlow;
      // Equal tags are ordered as in `nextFlow`: a flow of which nothing was served, then the one that has waited longest.
      const isServed = (own?.isServed ?? false) || inFlow.count > 0;
      let isOlder = true;
      for (const flow of flows.values()) {
        if (flow === own) {
          isOlder = false;
          continue;
        }
        const others = sumWhile(flow.waiting, (sumMs, one) => {
          const otherMs = flow.startMs + sumMs;
          const otherIsServed = flow.isServed || one !== flow.waiting[0];
          const winsTie = isServed === otherIsServed ? isOlder : isServed;
          return winsTie ? otherMs <= tagMs : otherMs < tagMs;
        });
        count += others.count;
        workMs += others.workMs;
      }
      return { count, workMs };
    },
  };
}

/** The sum of the first ones, before the first that does not count. */
function sumWhile<T>(
  waiting: readonly Queued<T>[],
  counts: (sumMs: number, last: Queued<T>) => boolean,
): WorkBefore {
  let count = 0;
  let workMs = 0;
  for (const one of waiting) {
    const sumMs = workMs + one.asked.costMs();
    if (!counts(sumMs, one)) {
      break;
    }
    count++;
    workMs = sumMs;
  }
  return { count, workMs };
}

/** A caller who waits for a search, which was begun for them or was under way already. */
export interface Asker {
  /** The flow in which a search waits that is begun for them. */
  readonly flow: string;
  /** From now on they wait for this search. */
  joins(run: RunTimes): void;
  /** They have left. The generator that they read may notice it much later. */
  leaves(): void;
  /**
   * Milliseconds of engine time that they are charged if they leave without an answer: the time for which the search has run while they
   * waited for it.
   */
  engineMs(): number;
}

/** Times at which a search got and gave back its engine, by `performance.now()`. */
export interface RunTimes {
  begunAt: number | undefined;
  endedAt: number | undefined;
  /** Engine time by the engine itself, in milliseconds, when it has answered. */
  engineMs: number | undefined;
}

export function createAsker(flow: string): Asker {
  let run: RunTimes | undefined;
  let joinedAt = 0;
  let leftAt: number | undefined;
  return {
    flow,
    joins(joined) {
      run = joined;
      joinedAt = performance.now();
    },
    leaves() {
      leftAt ??= performance.now();
    },
    engineMs() {
      if (run?.begunAt === undefined) {
        return 0;
      }
      const { begunAt, endedAt, engineMs } = run;
      const untilMs = Math.min(leftAt ?? performance.now(), endedAt ?? Number.POSITIVE_INFINITY);
      if (engineMs !== undefined && untilMs === endedAt) {
        return engineMs;
      }
      return Math.max(0, untilMs - Math.max(begunAt, joinedAt));
    },
  };
}
