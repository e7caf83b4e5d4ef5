import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";

/** Await this before each step of a task. Rejects with the error of the task's check. */
export type Turn = () => Promise<void>;

/** Begins a task of many steps. `check` runs before each time slice, and throws to end the task. */
export type BeginWork = (check?: () => void) => Turn;

/** Time slice of one task in milliseconds. Steps are short, so a task holds the thread for less than 3 ms. */
const sliceMs = 1;

/** Shares the thread between tasks of many steps, one time slice a turn of the event loop, so that none blocks the requests. */
export function createTimeSlicer(now: () => number = () => performance.now()): BeginWork {
  let lastSlice: Promise<void> = Promise.resolve();

  function nextSlice(): Promise<void> {
    lastSlice = lastSlice.then(() => setImmediate());
    return lastSlice;
  }

  return (check) => {
    let lastTurn: Promise<void> = Promise.resolve();
    let endsAt = Number.NEGATIVE_INFINITY;

    // The step before may use up the slice, so wait until it has begun.
    async function begin(): Promise<void> {
      if (now() >= endsAt) {
        await nextSlice();
        endsAt = now() + sliceMs;
        check?.();
      }
    }

    return () => {
      lastTurn = lastTurn.then(begin);
      return lastTurn;
    };
  };
}

export async function inTurns<T>(pieces: Generator<void, T>, turn: Turn): Promise<T> {
  for (;;) {
    await turn();
    const piece = pieces.next();
    if (piece.done) {
      return piece.value;
    }
  }
}

export interface EventLoopLag extends Disposable {
  /** True if the event loop was late in every sample of the last second. Starts the measurement, so call it for every request. */
  isLasting(): boolean;
}

/** Milliseconds between Node's samples of the delay, included in each sample: an idle event loop shows 20 ms. */
const sampleMs = 20;
/** Overload limit in milliseconds: if even the smallest sample exceeds it, the queue was never short (as in CoDel, RFC 8289). */
const lateMs = sampleMs + 50;
const evaluateMs = 1000;
/** The minimum number of samples: with fewer, a few long pauses of the garbage collector or machine look like overload. */
const samplesMin = 5;

/** Measures only while requests arrive, because the timer wakes the process fifty times a second. */
export function createEventLoopLag(
  delays: ELDHistogram = monitorEventLoopDelay({ resolution: sampleMs }),
): EventLoopLag {
  let isLate = false;
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;

  function evaluate(): void {
    if (!isAsked) {
      stop();
    } else if (delays.count >= samplesMin) {
      isLate = delays.min > lateMs * 1e6;
      isAsked = false;
      delays.reset();
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    isLate = false;
    delays.disable();
    delays.reset();
  }

  return {
    isLasting() {
      isAsked = true;
      if (timer === undefined) {
        delays.enable();
        timer = setInterval(evaluate, evaluateMs).unref();
      }
      return isLate;
    },
    [Symbol.dispose]: stop,
  };
}
