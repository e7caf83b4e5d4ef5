import type { Span } from "@opentelemetry/api";
import { beginSpan, inSpan } from "../tracing/spans.ts";
import { requestBounds } from "./analysis.ts";

/**
 * Lets equal requests that are in flight at the same time share one run of the work. A run lives until its last waiter has left,
 * even if its first has left before. The end of the run is the end for all waiters.
 */
export interface Coalescer<T, W> {
  /**
   * Returns the last state of the run in flight with this key, or of a new run.
   *
   * @param key undefined for work that is not shared
   * @param who the waiter, which the work may watch
   * @throws the error of the work; the reason of `signal`
   */
  last(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): Promise<T>;
  /** Yields all states of a run. If the run is in flight already, its newest state comes first. */
  all(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): AsyncIterable<T>;
  readonly counters: CoalescerCounters;
}

/**
 * Work that can be shared: it publishes states, and resolves with the last one.
 *
 * @param signal aborted with the last waiter's reason when no waiter is left
 * @param watch calls `onJoin` for each waiter: for the present ones, and then for each that joins
 */
export type SharedWork<T, W> = (
  publish: (state: T) => void,
  signal: AbortSignal,
  watch: (onJoin: (who: W) => void) => void,
) => Promise<T>;

/** Counters since the start: the number of waiters that started a run, and of waiters that joined one. */
export interface CoalescerCounters {
  readonly started: number;
  readonly joined: number;
}

export function createCoalescer<T, W>(): Coalescer<T, W> {
  const inFlight = new Map<string, SharedRun<T, W>>();
  let started = 0;
  let joined = 0;

  /** Adds a waiter to the run in flight, or to a new run. Returns the function with which the waiter leaves. */
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
      // Link to the search, which is in the trace of the caller that started it.
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

/** A run of the work, with its waiters. */
class SharedRun<T, W> {
  readonly #waiters = new Set<Waiter<T, W>>();
  #onJoin: (who: W) => void = () => {};
  readonly #abandoned = new AbortController();
  readonly #onOver: () => void;
  #newest: { readonly state: T } | undefined;
  /** The span of the work, if it is recorded. */
  span: Span | undefined;

  /** @param onOver called as soon as no waiter can join any more */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** Starts the work. Call this once, after the first waiter was added. */
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
    // A failure goes to the waiters. If all have left, it is ignored.
    inSpan("search", { signal }, (span) => {
      this.span = span;
      return work(publish, signal, watch);
    }).then(
      (last) => this.#end((waiter) => waiter.end(last)),
      (error) => this.#end((waiter) => waiter.fail(error)),
    );
  }

  /** Adds a waiter. Returns the function with which the waiter leaves, which may be called more than once. */
  add(waiter: Waiter<T, W>, signal: AbortSignal): () => void {
    this.#waiters.add(waiter);
    this.#onJoin(waiter.who);
    if (this.#newest) {
      waiter.push(this.#newest.state);
    }
    // Remove the waiter at once and not when it next asks for a state, which may never happen.
    const giveUp = () => this.#remove(waiter, signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    return () => {
      signal.removeEventListener("abort", giveUp);
      this.#remove(waiter, new Error("the last waiter has stopped reading"));
    };
  }

  /** Removes a waiter, which then fails with the reason unless the run has ended. */
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
 * The largest number of states that wait for a reader: one for each depth of a request, and the last. A reader that keeps up
 * misses none, although many shallow depths come at once. It can miss states only beyond the greatest depth of a request, which a
 * search without a depth limit can reach when a mate is near.
 */
export const statesOfSearch = requestBounds.depth.maximum + 2;

/**
 * Creates a channel for one reader that keeps only the newest states, so that a slow reader skips states and takes little memory.
 * Each state must therefore be complete, and never a difference. A failure comes before the states that wait.
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
