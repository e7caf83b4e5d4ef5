/** Work that waits, with what is to be done when its turn has come. */
export interface Waiting<T> {
  readonly flow: string;
  /** Milliseconds, as far as is known by then: what is learnt while it waits counts for it, as for equal work that comes later. */
  costMs(): number;
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
  /** Takes out who does not want to wait any more. Their share goes to the others: nobody keeps a place for later. */
  remove(waiting: Waiting<T>): void;
  take(): Waiting<T> | undefined;
  /** What would be served before this, which waits already or does not yet, if nothing else came. Equal values are one work. */
  before(asked: Asked<T>): WorkBefore;
}

/** Work that waits, or that might. */
type Asked<T> = Omit<Waiting<T>, "value"> & Partial<Pick<Waiting<T>, "value">>;

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
  /** Whether something of it was served since it began to wait. */
  isServed: boolean;
  /** Soonest due first. */
  readonly waiting: Queued<T>[];
}

interface Queued<T> {
  readonly asked: Waiting<T>;
  /** Virtual time when it came. */
  readonly cameMs: number;
}

/**
 * Self-clocked fair queueing: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
 * INFOCOM 1994. Served is the least tag = max(virtual time, last tag of the flow) + cost, and virtual time is
 * the tag of what was served last. So it moves on with every piece of work, also where each comes from a caller
 * of its own, and the tag of a long one comes up in time; and a flow that has nothing waiting has no state.
 *
 * Otherwise than there, short work overtakes long work of its flow, and then has the tag of work that came when the
 * long one did: less than virtual time, perhaps, which must not fall back to it. Else whoever came next would be
 * served before all who wait.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const flows = new Map<string, Flow<T>>();
  let virtualMs = 0;
  let length = 0;

  /**
   * The flow whose first work has the least tag; among equals one of which nothing was served yet, so that who comes
   * waits for what runs, and not for one more of somebody who has many; then the one that has waited longest.
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
      // The time for which only this one has waited is no credit of those that stay.
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
      // What waits in several flows is served once.
      const counted = new Set<T | undefined>([asked.value]);
      const inFlow = sumWhile(
        own?.waiting ?? [],
        counted,
        (_, one) => one.asked !== asked && one.asked.dueMs <= asked.dueMs,
      );
      const tagMs = (own?.startMs ?? virtualMs) + inFlow.workMs + asked.costMs();
      let { count, workMs } = inFlow;
      // As in `nextFlow`: of equal tags, that of a flow of which nothing was served, and of the one which has waited longest.
      const isServed = (own?.isServed ?? false) || inFlow.count > 0;
      let isOlder = true;
      for (const flow of flows.values()) {
        if (flow === own) {
          isOlder = false;
          continue;
        }
        const others = sumWhile(flow.waiting, counted, (sumMs, one) => {
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

/** The first ones, up to the one with which it goes too far, without those that are counted already. */
function sumWhile<T>(
  waiting: readonly Queued<T>[],
  counted: Set<T | undefined>,
  counts: (sumMs: number, last: Queued<T>) => boolean,
): WorkBefore {
  let sumMs = 0;
  let count = 0;
  let workMs = 0;
  for (const one of waiting) {
    const { value } = one.asked;
    const costMs = one.asked.costMs();
    sumMs += costMs;
    if (!counts(sumMs, one)) {
      break;
    }
    if (!counted.has(value)) {
      counted.add(value);
      count++;
      workMs += costMs;
    }
  }
  return { count, workMs };
}

/** A caller who waits for a search that was begun for them, or that they found under way. */
export interface Asker {
  /** Whose work it counts as. */
  readonly flow: string;
  /** They are among those who wait for this search from now on. */
  joins(run: RunTimes): void;
  /** They have gone, though nobody may have noticed: whoever reads slowly is told of nothing for a long time. */
  leaves(): void;
  /**
   * Milliseconds of engine time that are theirs to answer for when they leave without an answer: how long their
   * search has run while they waited for it, and not how long its answer has waited for them.
   */
  engineMs(): number;
}

/** When a search had its engine, by `performance.now()`. */
export interface RunTimes {
  begunAt: number | undefined;
  endedAt: number | undefined;
  /** What the engine says that it took, when it has answered. */
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
