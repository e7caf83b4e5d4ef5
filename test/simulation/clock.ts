import { AsyncLocalStorage } from "node:async_hooks";
import type { Timer } from "../../src/time/time.ts";

/** The module `src/time/time.ts` as the simulation replaces it. */
type Time = typeof import("../../src/time/time.ts");

/**
 * A virtual clock. Nothing happens by itself: `run` performs one event after the other, and the time jumps to the next event.
 * Events of equal time happen in the order of their creation.
 */
export interface Clock {
  readonly time: Time;
  /** Milliseconds since the start of the simulation. */
  now(): number;
  /** Calls `run` at a time that, unlike the time of a timer, is not rounded to whole milliseconds. For input and output. */
  at(ms: number, run: () => void): Timer;
  /** Creates a process, such as a node. Everything that `run` of the process starts belongs to the process. */
  process(name: string): Process;
  /** The process that runs now. */
  current(): Process | undefined;
  /** Performs events until `hasEnded` is true. Returns false if no event is left. */
  run(hasEnded: () => boolean): Promise<boolean>;
  /** The number of events so far. */
  readonly events: number;
}

export interface Process {
  readonly name: string;
  /** Calls `work` in this process. Its timers and callbacks belong to this process, too. */
  run<T>(work: () => T): T;
  /** Milliseconds that the wall clock of this process is ahead of the true time. */
  aheadMs: number;
  /** For this number of milliseconds, nothing of the process happens: its events are late. */
  pause(ms: number): void;
  /** Nothing of the process happens any more. */
  kill(): void;
  readonly isAlive: boolean;
  /** The number of timers that have not ended. */
  timers(): number;
}

interface Waiting {
  atMs: number;
  order: number;
  readonly run: () => void;
  readonly owner: Owner | undefined;
  isPending: boolean;
}

interface Owner extends Process {
  pausedUntilMs: number;
  readonly waiting: Set<Waiting>;
  isAlive: boolean;
}

/** The wall clock at the start: Friday, 1 January 2027. */
export const startsAt = Date.UTC(2027, 0, 1);

export function createClock(): Clock {
  const owners = new AsyncLocalStorage<Owner | undefined>();
  const queue = createHeap();
  let immediates: Waiting[] = [];
  let nowMs = 0;
  let orders = 0;
  let events = 0;

  function waitingOf(atMs: number, run: () => void): Waiting {
    const owner = owners.getStore();
    const bound = AsyncLocalStorage.bind(run);
    return { atMs, order: orders++, run: bound, owner, isPending: false };
  }

  function add(waiting: Waiting): void {
    const { owner } = waiting;
    if (owner?.isAlive === false) {
      return;
    }
    waiting.isPending = true;
    owner?.waiting.add(waiting);
    queue.push(waiting);
  }

  function remove(waiting: Waiting): void {
    waiting.isPending = false;
    waiting.owner?.waiting.delete(waiting);
  }

  /** As in Node, a timer counts whole milliseconds from the last whole millisecond, so it can end a moment too early. */
  const wholeMs = (ms: number) => Math.floor(nowMs) + (ms >= 1 && ms < 2 ** 31 ? Math.trunc(ms) : 1);

  function timerOf(waiting: Waiting, again: () => number): Timer {
    let current = waiting;
    const timer: Timer = {
      cancel: () => remove(current),
      refresh() {
        if (current.isPending) {
          remove(current);
        }
        current = { ...current, atMs: again(), order: orders++ };
        add(current);
      },
      unref: () => timer,
    };
    return timer;
  }

  function after(ms: number, run: () => void): Timer {
    const waiting = waitingOf(wholeMs(ms), run);
    add(waiting);
    return timerOf(waiting, () => wholeMs(ms));
  }

  function every(ms: number, run: () => void): Timer {
    const timer = after(ms, () => {
      timer.refresh();
      run();
    });
    return timer;
  }

  function soon(run: () => void): Pick<Timer, "cancel"> {
    const waiting = waitingOf(nowMs, run);
    if (waiting.owner?.isAlive !== false) {
      waiting.isPending = true;
      waiting.owner?.waiting.add(waiting);
      immediates.push(waiting);
    }
    return { cancel: () => remove(waiting) };
  }

  const time: Time = {
    now: () => nowMs,
    wall: () => Math.floor(startsAt + nowMs + (owners.getStore()?.aheadMs ?? 0)),
    after,
    every,
    soon,
    turn: () => new Promise((resolve) => void soon(resolve)),
    sleep(ms, { signal } = {}) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const stop = () => {
          timer.cancel();
          reject(signal?.reason);
        };
        const timer = after(ms, () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        });
        signal?.addEventListener("abort", stop, { once: true });
      });
    },
    timeoutSignal(ms) {
      const ending = new AbortController();
      after(ms, () =>
        ending.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
      );
      return ending.signal;
    },
  };

  /** Performs one event, and all that follows from it without a timer. */
  async function perform(waiting: Waiting): Promise<void> {
    remove(waiting);
    events++;
    waiting.run();
    await drained();
  }

  /** Takes the events of a paused process out, and brings them back when the pause has ended. */
  function isLate(waiting: Waiting): boolean {
    const { owner } = waiting;
    if (owner === undefined || owner.pausedUntilMs <= nowMs) {
      return false;
    }
    waiting.atMs = owner.pausedUntilMs;
    queue.push(waiting);
    return true;
  }

  return {
    time,
    now: () => nowMs,
    current: () => owners.getStore(),
    get events() {
      return events;
    },
    at(ms, run) {
      const waiting = waitingOf(Math.max(ms, nowMs), run);
      add(waiting);
      return timerOf(waiting, () => Math.max(ms, nowMs));
    },
    process(name) {
      const owner: Owner = {
        name,
        isAlive: true,
        aheadMs: 0,
        pausedUntilMs: 0,
        waiting: new Set(),
        run: (work) => owners.run(owner, work),
        pause(ms) {
          owner.pausedUntilMs = Math.max(owner.pausedUntilMs, nowMs + ms);
        },
        kill() {
          owner.isAlive = false;
          for (const waiting of owner.waiting) {
            remove(waiting);
          }
        },
        timers: () => owner.waiting.size,
      };
      return owner;
    },
    async run(hasEnded) {
      await drained();
      while (!hasEnded()) {
        const due = queue.first();
        if (due && !due.isPending) {
          queue.pop();
        } else if (due && due.atMs <= nowMs) {
          queue.pop();
          if (!isLate(due)) {
            await perform(due);
          }
        } else if (immediates.length > 0) {
          const now = immediates;
          immediates = [];
          for (const immediate of now) {
            if (immediate.isPending && !isLate(immediate)) {
              await perform(immediate);
            }
          }
        } else if (due) {
          nowMs = due.atMs;
        } else {
          return false;
        }
      }
      return true;
    },
  };
}

/** Resolves when all promises that are settled have been handled. */
function drained(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

interface Heap {
  push(waiting: Waiting): void;
  first(): Waiting | undefined;
  pop(): void;
}

function createHeap(): Heap {
  const items: Waiting[] = [];
  const isBefore = (a: Waiting, b: Waiting) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  function swap(one: number, other: number): void {
    [items[one], items[other]] = [items[other] as Waiting, items[one] as Waiting];
  }
  return {
    first: () => items[0],
    push(waiting) {
      let at = items.push(waiting) - 1;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (!isBefore(items[at] as Waiting, items[parent] as Waiting)) {
          return;
        }
        swap(at, parent);
        at = parent;
      }
    },
    pop() {
      const last = items.pop();
      if (last === undefined || items.length === 0) {
        return;
      }
      items[0] = last;
      for (let at = 0; ; ) {
        const children = [2 * at + 1, 2 * at + 2].filter((child) => child < items.length);
        const [left, right = left] = children;
        if (left === undefined || right === undefined) {
          return;
        }
        const least = isBefore(items[right] as Waiting, items[left] as Waiting) ? right : left;
        if (!isBefore(items[least] as Waiting, items[at] as Waiting)) {
          return;
        }
        swap(at, least);
        at = least;
      }
    },
  };
}
