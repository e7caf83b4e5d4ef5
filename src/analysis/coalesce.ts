import type { Span } from "@opentelemetry/api";
import { beginSpan, inSpan } from "../tracing/spans.ts";
import { requestBounds } from "./analysis.ts";

/**
 * Lets equal requests that are in flight at the same time share one run of the work. A run lives as long as its last waiter, not as its
 * first. Its end is the end for all waiters.
 */
export interface Coalescer<T, W> {
  /**
   * The last state of the run in flight that is called `key`, or of a new run.
   *
   * @param key undefined for work that is not shared
   * @param who the waiter, for the work
   * @throws the error of the work; the reason of `signal`
   */
  last(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): Promise<T>;
  /** All states; of a run that is in flight already, the newest one first. */
  all(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): AsyncIterable<T>;
  readonly counters: CoalescerCounters;
}

/**
 * Work that is worth sharing: publishes states, and resolves with the last one.
 *
 * @param signal aborted when nobody waits for the work any more, with the last waiter's reason
 * @param watch reports the waiters: those that there are, and then each that joins
 */
export type SharedWork<T, W> = (
  publish: (state: T) => void,
  signal: AbortSignal,
  watch: (onJoin: (who: W) => void) => void,
) => Promise<T>;

/** Counters since the start: waiters for which a run was started, and waiters that joined one. */
export interface CoalescerCounters {
  readonly started: number;
  readonly joined: number;
}

export function createCoalescer<T, W>(): Coalescer<T, W> {
  const inFlight = new Map<string, SharedRun<T, W>>();
  let started = 0;
  let joined = 0;

  /** Adds a waiter to the run in flight, or to a new one. Returns the way to leave it. */
  function enter(
    key: string | undefined,
    work: SharedWork<T, W>,
    waiter: Waiter<T, W>,
    signal: AbortSignal,
  ): () => void {
    signal.throwIfAborted();
    const known = key === undefined ? undefined : inFlight.get(key);
    if (known) {
      joined++;
      // The search is in the trace of the caller that began it.
      const links = known.span ? [{ context: known.span.spanContext() }] : [];
      const span = beginSpan("join search", { links });
      const leave = known.add(waiter, signal);
      return () => {
        leave();
        span?.end();
      };
    }
    started++;
    const run = new SharedRun<T, W>(() => {
      if (key !== undefined && inFlight.get(key) === run) {
        inFlight.delete(key);
      }
    });
    if (key !== undefined) {
      inFlight.set(key, run);
    }
    const leave = run.add(waiter, signal);
    run.start(work);
    return leave;
  }

  return {
    get counters() {
      return { started, joined };
    },
    async last(key, work, who, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const leave = enter(key, work, { who, push() {}, end: resolve, fail: reject }, signal);
      try {
        return await promise;
      } finally {
        leave();
      }
    },
    async *all(key, work, who, signal) {
      const states = createLatestStates<T>();
      const leave = enter(key, work, { who, ...states }, signal);
      try {
        yield* states;
      } finally {
        leave();
      }
    },
  };
}

interface Waiter<T, W> extends StateListener<T> {
  readonly who: W;
}

interface StateListener<T> {
  push(state: T): void;
  end(last: T): void;
  fail(error: unknown): void;
}

/** One run of the work, with its waiters. */
class SharedRun<T, W> {
  readonly #waiters = new Set<Waiter<T, W>>();
  #onJoin: (who: W) => void = () => {};
  readonly #abandoned = new AbortController();
  readonly #onOver: () => void;
  #newest: { readonly state: T } | undefined;
  /** The span of the work, if it is recorded. */
  span: Span | undefined;

  /** @param onOver called as soon as nobody may join any more. */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** Starts the work. To be called once, after the first waiter was added. */
  start(work: SharedWork<T, W>): void {
    const publish = (state: T) => {
      this.#newest = { state };
      for (const waiter of this.#waiters) {
        waiter.push(state);
      }
    };
    const { signal } = this.#abandoned;
    const watch = (onJoin: (who: W) => void) => {
      this.#onJoin = onJoin;
      for (const { who } of this.#waiters) {
        onJoin(who);
      }
    };
    // A failure goes to the waiters. If all have left, nobody needs it.
    inSpan("search", { signal }, (span) => {
      this.span = span;
      return work(publish, signal, watch);
    }).then(
      (last) => this.#end((waiter) => waiter.end(last)),
      (error) => this.#end((waiter) => waiter.fail(error)),
    );
  }

  /** Returns the way to leave, which may be used more than once. */
  add(waiter: Waiter<T, W>, signal: AbortSignal): () => void {
    this.#waiters.add(waiter);
    this.#onJoin(waiter.who);
    if (this.#newest) {
      waiter.push(this.#newest.state);
    }
    // The waiter leaves at once, not when it next asks for a state: that may be never.
    const giveUp = () => this.#remove(waiter, signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    return () => {
      signal.removeEventListener("abort", giveUp);
      this.#remove(waiter, new Error("the last waiter has stopped reading"));
    };
  }

  /** The waiter fails with the reason, unless the run has ended. */
  #remove(waiter: Waiter<T, W>, reason: unknown): void {
    if (!this.#waiters.delete(waiter)) {
      return;
    }
    waiter.fail(reason);
    if (this.#waiters.size === 0) {
      this.#onOver();
      this.#abandoned.abort(reason);
    }
  }

  #end(report: (waiter: Waiter<T, W>) => void): void {
    this.#onOver();
    this.#waiters.forEach(report);
    this.#waiters.clear();
  }
}

/**
 * The number of states that wait for a reader: one for each depth, and the last. So a reader that keeps up misses none,
 * though shallow depths come many at a time. It misses some only beyond the greatest depth of a request, which a search that nodes alone
 * limit can pass when a mate is near.
 */
export const statesOfSearch = requestBounds.depth.maximum + 2;

/**
 * A channel for one reader that keeps the newest states only: a slow reader skips states and holds little memory.
 * States must therefore be complete, never differences. A failure comes before states that wait.
 */
function createLatestStates<T>(): AsyncIterable<T> & StateListener<T> {
  const waiting: T[] = [];
  let hasEnded = false;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};

  function push(state: T): void {
    waiting.push(state);
    if (waiting.length > statesOfSearch) {
      waiting.shift();
    }
    wake();
  }
  return {
    push,
    end(last) {
      hasEnded = true;
      push(last);
    },
    fail(error) {
      failure ??= { error };
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (failure) {
          throw failure.error;
        }
        if (waiting.length > 0) {
          yield waiting.shift() as T;
        } else if (hasEnded) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
