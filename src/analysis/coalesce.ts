import type { Span } from "@opentelemetry/api";
import { outsideRequests } from "../request/owner.ts";
import { beginSpan, inSpan } from "../tracing/spans.ts";
import { requestBounds } from "./analysis.ts";

/** Runs `work` only once for all callers with the same key. Aborts `work` when no caller waits for the result any more. */
export interface Coalescer<T, W> {
  /** Throws the error of the work or the abort reason of `signal`. Work without a key is never shared. */
  last(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): Promise<T>;
  /** If the work is already running, the first yielded state is the newest state. */
  all(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): AsyncIterable<T>;
  readonly counters: CoalescerCounters;
  /** Aborts all work. All callers that wait, and all later callers, fail with `reason`. */
  close(reason: unknown): void;
}

/**
 * Resolves with the last state. `signal` aborts when no caller waits for the result any more.
 * `watch` calls `onJoin` once for each caller, including callers that join later.
 */
export type SharedWork<T, W> = (
  publish: (state: T) => void,
  signal: AbortSignal,
  watch: (onJoin: (who: W) => void) => void,
) => Promise<T>;

/** Totals since the process started. `started`: callers that started new work. `joined`: callers that joined running work. */
export interface CoalescerCounters {
  readonly started: number;
  readonly joined: number;
}

export function createCoalescer<T, W>(): Coalescer<T, W> {
  const inFlight = new Map<string, SharedRun<T, W>>();
  const runs = new Set<SharedRun<T, W>>();
  let closed: { readonly reason: unknown } | undefined;
  let started = 0;
  let joined = 0;

  function enter(
    key: string | undefined,
    work: SharedWork<T, W>,
    waiter: Waiter<T, W>,
    signal: AbortSignal,
  ): () => void {
    signal.throwIfAborted();
    if (closed) {
      throw closed.reason;
    }
    const known = key === undefined ? undefined : inFlight.get(key);
    if (known) {
      joined++;
      // Link to the span of the search, which is part of another caller's trace.
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
      runs.delete(run);
      if (key !== undefined && inFlight.get(key) === run) {
        inFlight.delete(key);
      }
    });
    runs.add(run);
    if (key !== undefined) {
      inFlight.set(key, run);
    }
    const leave = run.add(waiter, signal);
    // The search serves all callers that join it, and may start an engine, which serves later callers too.
    outsideRequests(() => run.start(work));
    return leave;
  }

  return {
    get counters() {
      return { started, joined };
    },
    close(reason) {
      closed = { reason };
      for (const run of runs) {
        run.abandon(reason);
      }
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

class SharedRun<T, W> {
  readonly #waiters = new Set<Waiter<T, W>>();
  #onJoin: (who: W) => void = () => {};
  readonly #abandoned = new AbortController();
  readonly #onOver: () => void;
  #newest: { readonly state: T } | undefined;
  span: Span | undefined;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

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
    // All waiters get the error. If there are no waiters, the error is ignored.
    inSpan("search", { signal }, (span) => {
      this.span = span;
      return work(publish, signal, watch);
    }).then(
      (last) => this.#end((waiter) => waiter.end(last)),
      (error) => this.#end((waiter) => waiter.fail(error)),
    );
  }

  /** Returns a function that removes the caller. */
  add(waiter: Waiter<T, W>, signal: AbortSignal): () => void {
    this.#waiters.add(waiter);
    // The search, and its places in the queue, serve all callers.
    outsideRequests(() => this.#onJoin(waiter.who));
    if (this.#newest) {
      waiter.push(this.#newest.state);
    }
    // Remove the waiter at once: waiting until the waiter reads the next state could take forever.
    const giveUp = () => this.#remove(waiter, signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    return () => {
      signal.removeEventListener("abort", giveUp);
      this.#remove(waiter, new Error("the last waiter has stopped reading"));
    };
  }

  /** Removes all callers, and aborts the work. */
  abandon(reason: unknown): void {
    for (const waiter of this.#waiters) {
      this.#remove(waiter, reason);
    }
  }

  #remove(waiter: Waiter<T, W>, reason: unknown): void {
    if (!this.#waiters.delete(waiter)) {
      return;
    }
    waiter.fail(reason);
    if (this.#waiters.size === 0) {
      this.#onOver();
      // The engine that stops now runs searches of later callers.
      outsideRequests(() => this.#abandoned.abort(reason));
    }
  }

  #end(report: (waiter: Waiter<T, W>) => void): void {
    this.#onOver();
    this.#waiters.forEach(report);
    this.#waiters.clear();
  }
}

/** The maximum number of unread states of a reader: one state per depth, and the last state. */
export const statesOfSearch = requestBounds.depth.maximum + 2;

/** If the reader is slow, old states are dropped, so each state must be complete. */
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
