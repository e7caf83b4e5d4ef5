import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { outsideRequests } from "../request/owner.ts";
import { every, now, type Timer, turn } from "../time/time.ts";

/** Await this function before each step of a long task. Rejects if the task's `check` throws. */
export type Turn = () => Promise<void>;

/** Starts a task of many steps. `check` runs before each time slice. If `check` throws, the task ends. */
export type BeginWork = (check?: () => void) => Turn;

/** The time slice of a task in milliseconds. A slice can last up to 3 ms, because the last step is not interrupted. */
const sliceMs = 1;

/** Divides long tasks into time slices. Each iteration of the event loop runs one slice of one task. */
export function createTimeSlicer(clock = now): BeginWork {
  let lastSlice: Promise<void> = Promise.resolve();

  function nextSlice(): Promise<void> {
    lastSlice = lastSlice.then(() => turn());
    return lastSlice;
  }

  return (check) => {
    let lastTurn: Promise<void> = Promise.resolve();
    let endsAt = Number.NEGATIVE_INFINITY;

    // Wait until the previous step has started, because this step may use the rest of the time slice.
    async function begin(): Promise<void> {
      if (clock() >= endsAt) {
        await nextSlice();
        endsAt = clock() + sliceMs;
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
  /**
   * True if every sample of the last second showed a delay. Call this for every request: without calls, the measurement stops.
   */
  isLasting(): boolean;
}

/** The interval of delay samples in milliseconds. Each sample includes the interval: an idle event loop shows 20 ms. */
const sampleMs = 20;
/** The thread is overloaded if the smallest sample exceeds this number of milliseconds, as in RFC 8289 (CoDel). */
const lateMs = sampleMs + 50;
const evaluateMs = 1000;
/** With fewer samples, a few long pauses of the garbage collector would look like overload. */
const samplesMin = 5;

/** Measures only while requests arrive, because the timer wakes the process fifty times per second. */
export function createEventLoopLag(
  delays: ELDHistogram = monitorEventLoopDelay({ resolution: sampleMs }),
): EventLoopLag {
  let isLate = false;
  let isAsked = false;
  let timer: Timer | undefined;

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
    timer?.cancel();
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
        timer = outsideRequests(() => every(evaluateMs, evaluate).unref());
      }
      return isLate;
    },
    [Symbol.dispose]: stop,
  };
}
