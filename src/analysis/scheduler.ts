import { KibitzError } from "../errors/errors.ts";
import { outsideRequests, ownerNow, runAs } from "../request/owner.ts";
import { after, every, now, soon, type Timer } from "../time/time.ts";
import { restMs } from "./expected-time.ts";
import { createExpressLine } from "./express-line.ts";
import { accountOfFlow, createFairQueue, type Waiting } from "./fair-queue.ts";

export interface Scheduler {
  /** Calls `onWaiting` at once and then every second. Throws `overloaded` if the expected wait is too long. */
  enter(
    work: Work,
    signal: AbortSignal,
    onWaiting?: (readPosition: ReadQueuePosition) => void,
  ): Promise<Slot>;
  status(): SchedulerStatus;
}

export interface Work {
  /** The result of `flowOf`. */
  readonly flow: string;
  /** The time limit in milliseconds. */
  readonly longestMs: number;
  /** Returns the expected time in milliseconds. The estimate may change while the work waits. */
  expectMs(): number;
  /** True if an engine for the work is idle, or if memory has room for one more engine. */
  hasRoom(): boolean;
  /** True for one more place of a search that waits already. If this place is refused, no caller is refused. */
  readonly isExtra?: boolean;
}

/** Returns undefined if the work does not wait any more. */
export type ReadQueuePosition = () => QueuePosition | undefined;

export interface QueuePosition {
  /** 1 is the first position in the queue. The position may increase, because short searches overtake long searches. */
  readonly place: number;
  readonly expectedWaitMs: number;
}

/** Disposing of a slot gives the slot to the next work in the queue. */
export interface Slot extends Disposable {
  readonly queueMs: number;
  /** Aborts if the work must give the slot to other work. The whole search must then run again in the slot from `again`. */
  readonly setBack: AbortSignal;
  /** Call this when the search has requested its engine. Until then, no other work takes an idle engine or free memory. */
  requested(): void;
  /** Call this when an engine begins the search. */
  begin(): void;
  /**
   * Waits for another slot. Call this after you disposed of this slot, or after the last wait was aborted. The work keeps its
   * arrival time, and is never refused. `signal` replaces the signal of the work.
   */
  again(signal: AbortSignal): Promise<Slot>;
}

/** `running` and `waiting` are current numbers. `started` and `refused` are totals since the start. */
export interface SchedulerStatus {
  readonly slots: number;
  /** Includes the search in the express place, so this number may be the number of slots plus 1. */
  readonly running: number;
  readonly waiting: number;
  readonly started: number;
  readonly refused: number;
  /** The expected wait of a new client, in milliseconds. */
  readonly expectedWaitMs: number;
}

interface SchedulerOptions {
  readonly slots: number;
  /** New work with a longer expected wait is rejected. Work that already waits is never rejected. */
  readonly maxWaitMs: number;
}

/** The flow of an imaginary new client, for estimates. No real flow has an empty name. */
const newFlow = "";

/** Waiting work gets its position this often. The expected times of waiting work are also renewed this often. */
const reportEveryMs = 1000;
/** After this number of reports, the thread handles its input and output: 4,000 reports take several hundred milliseconds. */
const reportsAtOnce = 50;

/** The positions in a longer queue are computed once a second, because computing them for each report takes too long. */
const positionsAtOnce = 100;

/** Work is short if it is expected to take at most this number of milliseconds. */
const shortMs = 250;

/** Short work may use the express place if it has waited, or is expected to wait, for more than this number of milliseconds. */
const patienceMs = 250;

/**
 * Short work that takes longer in the express place is set back, so that no caller can hold the express place. In the second try,
 * the time limit is twice as long, because a new engine may be slow at first. Then the work is not short any more.
 */
const expressMaxMs = 500;
const expressTries = 2;

/** One call of `enter`. The work may wait and run several times, because it can be set back. */
interface Entry extends Waiting {
  readonly work: Work;
  readonly account: string;
  signal: AbortSignal;
  /** True if the work has had a slot. */
  hadSlot: boolean;
  readonly askedAt: number;
  costMs: number;
  position: QueuePosition;
  /** The expected wait for a slot at the arrival, in milliseconds. */
  slotWaitMs: number;
  /** Ends the waiting. */
  resume(slot: Slot): void;
  /** How often the work has exceeded the time limit of the express place. */
  overruns: number;
  /** The milliseconds of search that were lost because the work was set back. */
  lostMs: number;
}

interface Running {
  readonly entry: Entry;
  readonly startedAt: number;
  readonly expectedMs: number;
  /** True in the express place and in a borrowed slot: the work is set back after a time limit. */
  readonly isLimited: boolean;
  readonly setBack: AbortController;
  hasRequested: boolean;
  /** Undefined until an engine begins the search. */
  begunAt: number | undefined;
  limit: Timer | undefined;
}

/**
 * Divides the slots evenly between the flows. In addition, an account with long searches does not delay the short work of other
 * accounts for long: short work of an account that runs no long search may run in the express place, beside the slots. If memory
 * has no room for another engine, the short work borrows a slot: the long search in the slot is set back, and runs again later.
 * A search loses at most as much time as its time limit in this way, so every search ends.
 */
export function createScheduler({ slots, maxWaitMs }: SchedulerOptions): Scheduler {
  const running = new Set<Running>();
  let express: Running | undefined;
  /** Tries to run the express line again, because the memory for another engine may have become free. */
  let retrying: Timer | undefined;
  const waiting = new Set<Entry>();
  const queue = createFairQueue<Entry>();
  const expressLine = createExpressLine<Entry>();
  let pricedAt = Number.NEGATIVE_INFINITY;
  let positionsAt = Number.NEGATIVE_INFINITY;
  /** The reports of queue positions that are due. A report that is late is not repeated. */
  const reports = new Set<() => void>();
  let isReporting = false;
  let started = 0;
  let refused = 0;

  function start(entry: Entry, isLimited: boolean): { readonly run: Running; readonly slot: Slot } {
    const startedAt = now();
    const run: Running = {
      entry,
      startedAt,
      expectedMs: entry.work.expectMs(),
      isLimited,
      setBack: new AbortController(),
      hasRequested: false,
      begunAt: undefined,
      limit: undefined,
    };
    started += entry.hadSlot ? 0 : 1;
    entry.hadSlot = true;
    if (isLimited) {
      expressLine.served(entry.account);
    }
    const slot: Slot = {
      queueMs: Math.round(startedAt - entry.askedAt),
      setBack: run.setBack.signal,
      requested() {
        run.hasRequested = true;
        runExpress();
      },
      begin: () => begin(run),
      again(signal) {
        entry.signal = signal;
        return wait(entry);
      },
      [Symbol.dispose]: () => release(run),
    };
    return { run, slot };
  }

  function startInSlot(entry: Entry, isLimited = false): Slot {
    const { run, slot } = start(entry, isLimited);
    running.add(run);
    return slot;
  }

  function begin(run: Running): void {
    const { entry, isLimited } = run;
    run.begunAt = now();
    if (isLimited) {
      run.limit?.cancel();
      run.limit = after(expressMaxMs * (1 + entry.overruns), () => {
        entry.overruns++;
        run.setBack.abort(new Error("a short search has taken too long"));
      });
    }
  }

  function release(run: Running): void {
    run.limit?.cancel();
    if (run === express) {
      express = undefined;
    } else if (running.has(run)) {
      price();
      const isLent = run.setBack.signal.aborted && !run.isLimited;
      // While the long search still counts as running, its own account cannot borrow the slot.
      const borrower = isLent ? expressLine.next(longAccounts()) : undefined;
      running.delete(run);
      const next = borrower ?? queue.take();
      if (next) {
        leaveQueue(next);
        next.resume(startInSlot(next, borrower !== undefined));
      }
    }
    runExpress();
  }

  function leaveQueue(entry: Entry): void {
    waiting.delete(entry);
    queue.remove(entry);
    expressLine.remove(entry.account, entry);
    if (expressLine.accounts === 0) {
      retrying?.cancel();
      retrying = undefined;
    }
  }

  async function wait(entry: Entry, onWaiting?: (readPosition: ReadQueuePosition) => void): Promise<Slot> {
    const { signal } = entry;
    signal.throwIfAborted();
    if (running.size < slots) {
      return startInSlot(entry);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    entry.resume = resolve;
    waiting.add(entry);
    queue.add(entry);
    const giveUp = () => {
      leaveQueue(entry);
      reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    const readPosition = () => (waiting.has(entry) ? positionOf(entry) : undefined);
    onWaiting?.(readPosition);
    const owner = ownerNow();
    const report = () => runAs(owner, () => onWaiting?.(readPosition));
    const reporting = onWaiting && every(reportEveryMs, () => reportSoon(report));
    const patience = isShort(entry) ? after(patienceMs, () => useExpress(entry)) : undefined;
    if (patience && entry.slotWaitMs > patienceMs) {
      useExpress(entry);
    }
    try {
      return await promise;
    } finally {
      reporting?.cancel();
      reports.delete(report);
      patience?.cancel();
      signal.removeEventListener("abort", giveUp);
    }
  }

  function reportSoon(report: () => void): void {
    reports.add(report);
    if (!isReporting) {
      isReporting = true;
      outsideRequests(() => soon(runReports));
    }
  }

  function runReports(): void {
    for (const report of [...reports.values().take(reportsAtOnce)]) {
      reports.delete(report);
      report();
    }
    isReporting = reports.size > 0;
    if (isReporting) {
      soon(runReports);
    }
  }

  function useExpress(entry: Entry): void {
    expressLine.add(entry.account, entry);
    retrying ??= every(patienceMs, runExpress);
    runExpress();
  }

  /** Starts the next short work in the express place, or makes a long search lend its slot. */
  function runExpress(): void {
    const next = express ? undefined : expressLine.next(longAccounts());
    if (next === undefined) {
      return;
    }
    if (!next.work.hasRoom()) {
      if (!isSlotLent()) {
        setBackLender();
      }
      return;
    }
    // The room may be the engine that a search in a slot is about to request.
    if (running.values().every(({ hasRequested }) => hasRequested)) {
      leaveQueue(next);
      const { run, slot } = start(next, true);
      express = run;
      next.resume(slot);
    }
  }

  /** Sets back the search that loses the least time. */
  function setBackLender(): void {
    const begun = [...running].filter((run) => run.begunAt !== undefined && canLend(run));
    const [lender] = begun.toSorted((a, b) => ranMs(a) - ranMs(b));
    if (lender) {
      lender.entry.lostMs += ranMs(lender);
      lender.setBack.abort(new Error("a short search needs the slot"));
    }
  }

  /** True from the time when a long search is set back until the short work in its slot ends. */
  function isSlotLent(): boolean {
    return running.values().some(({ isLimited, setBack }) => isLimited || setBack.signal.aborted);
  }

  /** True if the search may be set back as soon as an engine has begun the search. */
  function canLend(run: Running): boolean {
    const { entry, expectedMs, startedAt } = run;
    const nowMs = now();
    const endsSoon = entry.signal.aborted || restMs(expectedMs, nowMs - startedAt) <= patienceMs;
    return !endsSoon && entry.lostMs + ranMs(run) <= entry.work.longestMs;
  }

  /** Returns the accounts with a long search in a slot. */
  function longAccounts(): ReadonlySet<string> {
    const nowMs = now();
    const isLong = ({ expectedMs, startedAt }: Running) => Math.max(expectedMs, nowMs - startedAt) > shortMs;
    return new Set([...running].filter(isLong).map(({ entry }) => entry.account));
  }

  /** Renews the expected times of all waiting work at most once a second, because this takes a while if much work waits. */
  function price(): void {
    const nowMs = now();
    if (nowMs - pricedAt >= reportEveryMs) {
      pricedAt = nowMs;
      for (const entry of waiting) {
        entry.costMs = entry.work.expectMs();
      }
      queue.priced();
    }
  }

  /** `workMs` is the queued work that gets a slot before the new work. */
  function queueWaitMs(workMs: number): number {
    const nowMs = now();
    let sumMs = workMs;
    for (const { startedAt, expectedMs, entry } of running) {
      // An aborted search is expected to end at once.
      sumMs += entry.signal.aborted ? 0 : restMs(expectedMs, nowMs - startedAt);
    }
    return sumMs / slots;
  }

  const expressRestMs = () => (express ? Math.min(express.expectedMs, expressMaxMs) : 0);

  function canUseExpress({ work }: Entry): boolean {
    return express !== undefined || work.hasRoom() || isSlotLent() || running.values().some(canLend);
  }

  function positionOfNew(entry: Entry): QueuePosition {
    const { count, workMs } = queue.before(entry);
    const queued = { place: count + 1, expectedWaitMs: queueWaitMs(workMs) };
    entry.slotWaitMs = queued.expectedWaitMs;
    const excluded = longAccounts();
    if (
      queued.expectedWaitMs <= patienceMs ||
      !isShort(entry) ||
      excluded.has(entry.account) ||
      !canUseExpress(entry)
    ) {
      return queued;
    }
    // In a long line, assume that the other work takes as long as the first work.
    const first = [...expressLine.before(entry.account, excluded).take(positionsAtOnce)];
    const ahead = first.length < positionsAtOnce ? first.length : expressLine.accounts;
    const firstMs = first.reduce((sum, { costMs }) => sum + costMs, 0);
    const aheadMs = first.length === 0 ? 0 : (firstMs * ahead) / first.length;
    return sooner(queued, { place: ahead + 1, expectedWaitMs: expressRestMs() + aheadMs });
  }

  function computePositions(): void {
    price();
    const restOfSlotsMs = queueWaitMs(0);
    let workMs = 0;
    for (const [index, entry] of queue.order().entries()) {
      entry.position = { place: index + 1, expectedWaitMs: restOfSlotsMs + workMs / slots };
      workMs += entry.costMs;
    }
    let place = 1;
    let expectedWaitMs = expressRestMs();
    for (const entry of expressLine.order(longAccounts())) {
      if (!canUseExpress(entry)) {
        break;
      }
      entry.position = sooner(entry.position, { place, expectedWaitMs });
      place++;
      expectedWaitMs += entry.costMs;
    }
  }

  function positionOf(entry: Entry): QueuePosition {
    const nowMs = now();
    if (waiting.size <= positionsAtOnce || nowMs - positionsAt >= reportEveryMs) {
      positionsAt = nowMs;
      computePositions();
    }
    const { place, expectedWaitMs } = entry.position;
    return { place, expectedWaitMs: Math.round(expectedWaitMs) };
  }

  return {
    status() {
      const counters = {
        slots,
        running: running.size + Number(express !== undefined),
        waiting: waiting.size,
      };
      const totals = { started, refused };
      if (running.size < slots) {
        return { ...counters, ...totals, expectedWaitMs: 0 };
      }
      // Assume that the next search takes as long as the average of the running searches.
      const costMs = [...running].reduce((sum, { expectedMs }) => sum + expectedMs / running.size, 0);
      const { workMs } = queue.before({ flow: newFlow, costMs, dueMs: 0 });
      return { ...counters, ...totals, expectedWaitMs: queueWaitMs(workMs) };
    },
    async enter(work, signal, onWaiting = () => {}) {
      signal.throwIfAborted();
      price();
      const askedAt = now();
      const costMs = work.expectMs();
      const entry: Entry = {
        flow: work.flow,
        account: accountOfFlow(work.flow),
        work,
        signal,
        hadSlot: false,
        askedAt,
        costMs,
        dueMs: askedAt + costMs,
        position: { place: 1, expectedWaitMs: 0 },
        slotWaitMs: 0,
        resume() {},
        overruns: 0,
        lostMs: 0,
      };
      if (running.size >= slots) {
        entry.position = positionOfNew(entry);
        const { expectedWaitMs } = entry.position;
        if (expectedWaitMs > maxWaitMs) {
          refused += work.isExtra ? 0 : 1;
          throw overloaded(expectedWaitMs, maxWaitMs);
        }
      }
      return wait(entry, onWaiting);
    },
  };
}

/** Returns how long an engine has searched, in milliseconds. */
function ranMs({ begunAt }: Running): number {
  return begunAt === undefined ? 0 : now() - begunAt;
}

function isShort({ costMs, overruns }: Entry): boolean {
  return costMs <= shortMs && overruns < expressTries;
}

function sooner(a: QueuePosition, b: QueuePosition): QueuePosition {
  return {
    place: Math.min(a.place, b.place),
    expectedWaitMs: Math.min(a.expectedWaitMs, b.expectedWaitMs),
  };
}

function overloaded(waitMs: number, maxWaitMs: number): KibitzError {
  const seconds = (ms: number) => Math.ceil(ms / 100) / 10;
  return new KibitzError(
    "overloaded",
    `All engines are busy: this request would wait about ${seconds(waitMs)} s, and the maximum here is ${seconds(maxWaitMs)} s. Try again later, or ask for a lower depth, fewer lines or a shorter movetime_ms: short searches wait less.`,
    // Suggest a retry when the wait has fallen to half of the maximum, because most earlier retries would fail.
    { retryAfterMs: Math.max(1000, Math.ceil(waitMs - maxWaitMs / 2)) },
  );
}
