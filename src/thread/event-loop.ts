import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";

/** Resolves when the caller may do the next piece of its work. Rejects with the error that the work's check throws. */
export type Turn = () => Promise<void>;

/**
 * Begins a piece of work. Await the returned {@link Turn} before each step of it.
 *
 * @param check runs before each time slice, and throws to end the work
 */
export type BeginWork = (check?: () => void) => Turn;

/** Time slice of one piece of work, in milliseconds. The step that exceeds it is short, so sliced work holds the thread for less than 3 ms. */
const sliceMs = 1;

/**
 * Shares the thread between pieces of work that consist of many steps and never wait: without time slices each would run in one go,
 * and block every other request. One time slice runs in each turn of the event loop. A piece of work uses its slice up before
 * the next one runs, so that few results are in memory half done.
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

    // Runs after the step before it has begun: that step may have used the slice up.
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

/** Runs a generator to its end, and awaits its turn before each step. */
export async function inTurns<T>(pieces: Generator<void, T>, turn: Turn): Promise<T> {
  for (;;) {
    await turn();
    const piece = pieces.next();
    if (piece.done) {
      return piece.value;
    }
  }
}

/** Detects that the thread is overloaded: everything on it begins late. */
export interface EventLoopLag extends Disposable {
  /** True if the event loop was late at every look in the last second. Call this for every request: it also starts the measurement. */
  isLasting(): boolean;
}

/** Interval of the timer that Node measures with, in milliseconds. It is part of each sample: an idle event loop has samples of 20 ms. */
const sampleMs = 20;
/**
 * The thread is overloaded if every sample is above this, also the least: a queue does not become shorter then. One long wait says
 * nothing. CoDel (RFC 8289) looks at the delay of packets in this way.
 */
const lateMs = sampleMs + 50;
/** How often the samples are evaluated. */
const evaluateMs = 1000;
/** With fewer samples, a few long pauses of the garbage collector or of the machine would look like overload. */
const samplesMin = 5;

/**
 * Measures the delay of the event loop while requests arrive. If none has arrived for a second, the measurement stops, because its
 * timer wakes the process fifty times a second.
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
