import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";

/** Resolves when a task may run its next step. Rejects with the error that the task's check throws. */
export type Turn = () => Promise<void>;

/**
 * Begins a task of many steps. Await the returned {@link Turn} before each step.
 *
 * @param check runs before each time slice, and throws to end the task
 */
export type BeginWork = (check?: () => void) => Turn;

/**
 * Time slice of one task, in milliseconds. A step may exceed its slice, but steps are short, so a task holds the thread for less
 * than 3 ms.
 */
const sliceMs = 1;

/**
 * Shares the thread between tasks that consist of many steps and never wait. Without time slices, each task would run to its end
 * and block every other request. Each turn of the event loop runs one time slice. A task uses up its slice before the next task
 * runs, so that few half-finished results are in memory.
 */
export function createTimeSlicer(now: () => number = () => performance.now()): BeginWork {
  let lastSlice: Promise<void> = Promise.resolve();

  function nextSlice(): Promise<void> {
    lastSlice = lastSlice.then(() => setImmediate());
    return lastSlice;
  }

  return (check) => {
    let lastTurn: Promise<void> = Promise.resolve();
    let endsAt = Number.NEGATIVE_INFINITY;

    // Each step waits until the step before it has begun, because that step may have used up the slice.
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

/** Runs a generator to its end, and awaits `turn` before each step. */
export async function inTurns<T>(pieces: Generator<void, T>, turn: Turn): Promise<T> {
  for (;;) {
    await turn();
    const piece = pieces.next();
    if (piece.done) {
      return piece.value;
    }
  }
}

/** Detects an overloaded thread, on which every callback runs late. */
export interface EventLoopLag extends Disposable {
  /**
   * True if the event loop was late in every sample of the last second. Call this for every request, because it also starts the
   * measurement.
   */
  isLasting(): boolean;
}

/**
 * Interval of the timer with which Node measures the delay, in milliseconds. Each sample includes it: on an idle event loop, a
 * sample is 20 ms.
 */
const sampleMs = 20;
/**
 * The thread is overloaded if even the smallest sample exceeds this limit, in milliseconds, because then its queue was never
 * short. A single long delay does not prove overload. CoDel (RFC 8289) judges the delay of packets in the same way.
 */
const lateMs = sampleMs + 50;
/** Interval at which the samples are evaluated, in milliseconds. */
const evaluateMs = 1000;
/**
 * The minimum number of samples for a decision. With fewer samples, a few long pauses of the garbage collector or of the machine
 * would look like overload.
 */
const samplesMin = 5;

/**
 * Measures the delay of the event loop while requests arrive. If no request has arrived for a second, the measurement stops,
 * because its timer wakes the process fifty times a second.
 */
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
