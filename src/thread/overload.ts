import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { outsideRequests } from "../request/owner.ts";
import { every, now, type Timer } from "../time/time.ts";

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

/** Measures the heap again after this number of milliseconds. A measurement takes 2 µs. */
const measureEveryMs = 10;

/**
 * The heap is nearly full if more than this share of its limit is in use. V8 collects garbage at the latest when the heap has
 * grown half of the way from the bytes that were alive to its limit. So garbage alone does not reach this share: with 350 of 562
 * MB alive, at most 423 MB were in use.
 */
const fullShare = 0.8;

interface HeapUse {
  readonly used_heap_size: number;
  readonly heap_size_limit: number;
}

/** Returns a function that tells if the heap is nearly full, so that new work must be refused: a full heap ends the process. */
export function createHeapCheck(measure: () => HeapUse = getHeapStatistics, clock = now): () => boolean {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let isFull = false;
  return () => {
    if (clock() - measuredAt >= measureEveryMs) {
      const { used_heap_size: used, heap_size_limit: limit } = measure();
      isFull = used > fullShare * limit;
      measuredAt = clock();
    }
    return isFull;
  };
}
