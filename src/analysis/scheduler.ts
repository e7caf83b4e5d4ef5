import { KibitzError } from "../errors/errors.ts";
import type { Sharers } from "./coalesce.ts";
import { restMs } from "./expected-time.ts";
import { createFairQueue, type FairQueue, type Waiting, type WorkBefore } from "./fair-queue.ts";

/** Hands out the node's slots: how many searches run at a time. */
export interface Scheduler {
  /**
   * Waits for a slot. Flows share the slots evenly, short work goes ahead of long, and none starves.
   *
   * @param onWaiting told only of work that has to wait: at once, and then every second while it does.
   * @throws KibitzError `overloaded`, at once, when the work is expected to wait too long; the reason of `signal`.
   */
  enter(work: Work, signal: AbortSignal, onWaiting?: (standing: Standing) => void): Promise<Slot>;
  /** Whether work that came now would wait for nothing. */
  readonly hasFreeSlot: boolean;
  readonly counters: SchedulerCounters;
  /** How it stands, and how long the next search of a new caller would wait. Looks at all that waits. */
  standing(): SchedulerStanding;
}

/** Work that asks for a slot. */
export interface Work {
  /** Whose it is: an address, or a batch of one. */
  readonly flow: string;
  /** Milliseconds that it is expected to hold the slot, as far as is known when it is asked. */
  expectMs(): number;
  /** It was let in before, and is refused no more. */
  readonly letIn?: boolean;
  /**
   * All who wait for the same work, where others may. It has a place in the flow of each, from when they came or it asked for
   * its slot, and is served where its turn comes first. Whoever leaves takes their place along, and nobody else's.
   */
  readonly sharers?: Sharers<{ readonly flow: string }>;
}

/** Where work stands at the moment; undefined when it does not wait any more. */
export type Standing = () => PlaceInQueue | undefined;

/** How long work that was let in still has to wait. */
export interface PlaceInQueue {
  /** 1 is next. It may grow again, as shorter work comes. */
  readonly place: number;
  readonly expectedWaitMs: number;
}

/** A place to search in. Disposing of it lets the next one in, once. */
export interface Slot extends Disposable {
  /** Milliseconds waited for it. */
  readonly queueMs: number;
}

/** `running` and `waiting` are now, the others since the start. */
interface SchedulerCounters {
  readonly running: number;
  readonly waiting: number;
  readonly admitted: number;
  readonly refused: number;
}

/** How busy the node is. */
interface SchedulerStanding extends SchedulerCounters {
  readonly slots: number;
  /** Milliseconds. */
  readonly expectedWaitMs: number;
}

interface SchedulerOptions {
  /** Searches at a time. */
  readonly slots: number;
  /** Longest expected wait in milliseconds. What would wait longer is refused; what was let in stays. */
  readonly maxWaitMs: number;
}

/** A flow that nobody has: those of callers are not empty. */
const newCaller = "";

/** How often who waits is told of it. */
const tellEveryMs = 1000;

/** A class, because V8 takes 3 µs to make a literal with a symbol for a name. */
class RunningSlot implements Slot {
  readonly queueMs: number;
  readonly #free: () => void;

  constructor(queueMs: number, free: () => void) {
    this.queueMs = queueMs;
    this.#free = free;
  }

  [Symbol.dispose](): void {
    this.#free();
  }
}

interface Running {
  readonly startedAt: number;
  readonly expectedMs: number;
  /** Aborted when nobody waits for it any more: it ends then. */
  readonly signal: AbortSignal;
}

export function createScheduler({ slots, maxWaitMs }: SchedulerOptions): Scheduler {
  /** Few, and no `Set`: what that has held stays until V8 collects the whole heap. */
  const running: Running[] = [];
  const queue = createFairQueue<() => void>();
  let waiting = 0;
  let admitted = 0;
  let refused = 0;

  function admit({ expectMs }: Work, askedAt: number, signal: AbortSignal): Slot {
    const run: Running = { startedAt: performance.now(), expectedMs: expectMs(), signal };
    running.push(run);
    admitted++;
    return new RunningSlot(Math.round(run.startedAt - askedAt), () => {
      const at = running.indexOf(run);
      if (at >= 0) {
        running.splice(at, 1);
        queue.take()?.value();
      }
    });
  }

  /** Milliseconds until a slot would be free behind this work. */
  function expectedWaitMs(before: WorkBefore, now: number): number {
    let { workMs } = before;
    for (const { startedAt, expectedMs: runMs, signal } of running) {
      workMs += signal.aborted ? 0 : restMs(runMs, now - startedAt);
    }
    return workMs / slots;
  }

  /** As long as those that run are expected to take on average, of somebody who has nothing waiting. */
  function typicalWork(now: number) {
    const sumMs = running.reduce((sum, { expectedMs }) => sum + expectedMs, 0);
    const costMs = running.length === 0 ? 0 : sumMs / running.length;
    return { flow: newCaller, costMs: () => costMs, dueMs: now + costMs };
  }

  /** Tells where work stands until that is stopped. */
  function tellStanding(places: Places, onWaiting: (standing: Standing) => void = () => {}): () => void {
    let waits = true;
    const standing = () => {
      if (!waits) {
        return undefined;
      }
      const before = places.before();
      const waitMs = expectedWaitMs(before, performance.now());
      return { place: before.count + 1, expectedWaitMs: Math.round(waitMs) };
    };
    onWaiting(standing);
    const telling = setInterval(onWaiting, tellEveryMs, standing);
    return () => {
      waits = false;
      clearInterval(telling);
    };
  }

  return {
    get hasFreeSlot() {
      return running.length < slots;
    },
    get counters() {
      return { running: running.length, waiting, admitted, refused };
    },
    standing() {
      const now = performance.now();
      const isFree = running.length < slots;
      const waitMs = isFree ? 0 : expectedWaitMs(queue.before(typicalWork(now)), now);
      return { slots, running: running.length, waiting, admitted, refused, expectedWaitMs: waitMs };
    },
    async enter(work, signal, onWaiting) {
      signal.throwIfAborted();
      const askedAt = performance.now();
      if (running.length < slots) {
        return admit(work, askedAt, signal);
      }
      const { flow, expectMs: costMs } = work;
      const asked = { flow, costMs, dueMs: askedAt + costMs() };
      const waitMs = expectedWaitMs(queue.before(asked), askedAt);
      if (waitMs > maxWaitMs && work.letIn !== true) {
        refused++;
        throw overloaded(waitMs, maxWaitMs);
      }
      return new Promise<Slot>((resolve, reject) => {
        const places = createPlaces(queue, work.expectMs, () => {
          // Runs inside another one's leaving: the slot is this one's before anybody else can ask.
          over();
          resolve(admit(work, askedAt, signal));
        });
        const giveUp = () => {
          over();
          reject(signal.reason);
        };
        const over = () => {
          waiting--;
          stopTelling();
          places.close();
          signal.removeEventListener("abort", giveUp);
        };
        waiting++;
        // Others may have joined it, and who began it may have left, before it asked for a slot.
        for (const { flow } of work.sharers?.present ?? [work]) {
          places.add(flow);
        }
        work.sharers?.watch(
          ({ flow }) => places.add(flow),
          ({ flow }) => places.remove(flow),
        );
        signal.addEventListener("abort", giveUp, { once: true });
        const stopTelling = tellStanding(places, onWaiting);
      });
    },
  };
}

function overloaded(waitMs: number, maxWaitMs: number): KibitzError {
  const seconds = (ms: number) => Math.ceil(ms / 100) / 10;
  return new KibitzError(
    "overloaded",
    `All engines are busy: this request would wait about ${seconds(waitMs)} s, and the maximum here is ${seconds(maxWaitMs)} s. Try again later, or ask for a lower depth, fewer lines or a shorter movetime_ms: short searches wait less.`,
    // When half of the longest wait has drained: if all came back for the first free place, one would get it.
    { retryAfterMs: Math.max(1000, Math.ceil(waitMs - maxWaitMs / 2)) },
  );
}

/** Where one piece of work waits: once in the flow of each of its callers, from when the first of them came. */
interface Places {
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
 * @param costMs of the work.
 * @param serve called when the turn of the first of the places has come.
 */
function createPlaces(queue: FairQueue<() => void>, costMs: () => number, serve: () => void): Places {
  const byFlow = new Map<string, Place>();
  let closed = false;
  return {
    add(flow) {
      const known = byFlow.get(flow);
      if (known) {
        known.callers++;
      } else if (!closed) {
        const waiting = { flow, costMs, dueMs: performance.now() + costMs(), value: serve };
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
