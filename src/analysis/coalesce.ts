import type { Span } from "@opentelemetry/api";
import { beginSpan, inSpan } from "../tracing/spans.ts";
import { requestBounds } from "./analysis.ts";

/**
 * Lets equal requests that are under way at the same time share one run of the work. It lives as long as its
 * last reader, not as its first; what ends it ends all.
 */
export interface Coalescer<T, W> {
  /**
   * The last state of the work called `key`: of the run under way, or else of a new one.
   *
   * @param key undefined for work that is not to be shared.
   * @param who asks: the work is told who shares it.
   * @throws what the work throws; the reason of `signal`.
   */
  last(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): Promise<T>;
  /** All states, the newest one first where the run is under way already. */
  all(key: string | undefined, work: SharedWork<T, W>, who: W, signal: AbortSignal): AsyncIterable<T>;
  /** All states of the run under way, the newest one first; undefined if there is none. */
  join(key: string, who: W, signal: AbortSignal): AsyncIterable<T> | undefined;
  readonly counters: CoalescerCounters;
}

/**
 * Work that is worth sharing: publishes states, and resolves with the last one.
 *
 * @param signal aborted when nobody wants the work any more, with the last reader's reason.
 */
export type SharedWork<T, W> = (
  publish: (state: T) => void,
  signal: AbortSignal,
  sharers: Sharers<W>,
) => Promise<T>;

/** Those who share a run: it was begun for one, others come, and each may leave. */
export interface Sharers<W> {
  /** Reports the callers who come from now on, and all who leave while others stay. */
  watch(came: (who: W) => void, left?: (who: W) => void): void;
}

/** Since the start: readers for whom work was begun, and those who found it under way. */
export interface CoalescerCounters {
  readonly started: number;
  readonly joined: number;
}

/** Holds a run while it is under way. The outgrown table of a `Map` would keep the run itself until V8 collects the whole heap. */
interface Place<T, W> {
  run: SharedRun<T, W> | undefined;
}

export function createCoalescer<T, W>(): Coalescer<T, W> {
  const underWay = new Map<string, Place<T, W>>();
  let started = 0;
  let joined = 0;

  function begin(key: string | undefined, work: SharedWork<T, W>, reader: Reader<T, W>): SharedRun<T, W> {
    started++;
    const place: Place<T, W> = { run: undefined };
    const run = new SharedRun<T, W>(() => {
      if (key !== undefined && place.run) {
        place.run = undefined;
        underWay.delete(key);
      }
    });
    if (key !== undefined) {
      place.run = run;
      underWay.set(key, place);
    }
    run.enter(reader);
    run.begin(work);
    return run;
  }

  /** Lets a reader in, until it says that it has left. */
  function enter(
    key: string | undefined,
    work: SharedWork<T, W>,
    reader: Reader<T, W>,
    signal: AbortSignal,
  ): () => void {
    signal.throwIfAborted();
    const known = key === undefined ? undefined : underWay.get(key)?.run;
    return known ? join(known, reader, signal) : stay(begin(key, work, reader), reader, signal);
  }

  function join(known: SharedRun<T, W>, reader: Reader<T, W>, signal: AbortSignal): () => void {
    joined++;
    // The search is in the trace of the caller that began it.
    const { span: search } = known;
    const span = beginSpan("join search", { links: search ? [{ context: search.spanContext() }] : [] });
    known.enter(reader);
    const leave = stay(known, reader, signal);
    return () => {
      leave();
      span?.end();
    };
  }

  function stay(run: SharedRun<T, W>, reader: Reader<T, W>, signal: AbortSignal): () => void {
    // At once, and not when the reader next asks for a state: that may be never.
    const giveUp = () => run.leave(reader, () => signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    return () => {
      signal.removeEventListener("abort", giveUp);
      run.leave(reader, () => new Error("the last reader has stopped reading"));
    };
  }

  return {
    get counters() {
      return { started, joined };
    },
    async last(key, work, who, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const leave = enter(key, work, { who, push: undefined, end: resolve, fail: reject }, signal);
      try {
        return await promise;
      } finally {
        leave();
      }
    },
    async *all(key, work, who, signal) {
      const { states, reader } = createStates<T, W>(who);
      const leave = enter(key, work, reader, signal);
      try {
        yield* states;
      } finally {
        leave();
      }
    },
    join(key, who, signal) {
      const known = underWay.get(key)?.run;
      if (known === undefined || signal.aborted) {
        return undefined;
      }
      const { states, reader } = createStates<T, W>(who);
      const leave = join(known, reader, signal);
      return (async function* () {
        try {
          yield* states;
        } finally {
          leave();
        }
      })();
    },
  };
}

/** Whoever reads states, one after the other. */
function createStates<T, W>(who: W): { readonly states: AsyncIterable<T>; readonly reader: Reader<T, W> } {
  const states = createLatest<T>(statesOfSearch);
  const end = (last: T) => {
    states.push(last);
    states.end();
  };
  return { states, reader: { who, push: states.push, end, fail: states.fail } };
}

/** Where one who waits is told. */
interface Reader<T, W> {
  readonly who: W;
  /** Undefined where only the last state is waited for. */
  readonly push: ((state: T) => void) | undefined;
  end(last: T): void;
  fail(error: unknown): void;
}

/** One run of the work, and those who wait for it. */
class SharedRun<T, W> implements Sharers<W> {
  readonly #readers = new Set<Reader<T, W>>();
  readonly #watchers: { readonly came: (who: W) => void; readonly left: (who: W) => void }[] = [];
  readonly #left = new AbortController();
  readonly #over: () => void;
  #newest: { readonly state: T } | undefined;
  #span: Span | undefined;

  /** @param over called once, as soon as nobody should join any more. */
  constructor(over: () => void) {
    this.#over = over;
  }

  /** To be called once, when the first reader is there. */
  begin(work: SharedWork<T, W>): void {
    const publish = (state: T) => {
      this.#newest = { state };
      for (const reader of this.#readers) {
        reader.push?.(state);
      }
    };
    // Failures go to the readers, and when all have left there is nobody to be told.
    const { signal } = this.#left;
    inSpan("search", { signal }, (span) => {
      this.#span = span;
      return work(publish, signal, this);
    }).then(
      (last) => this.#end((reader) => reader.end(last)),
      (error) => this.#end((reader) => reader.fail(error)),
    );
  }

  /** The span of the work, if it is recorded. */
  get span(): Span | undefined {
    return this.#span;
  }

  watch(came: (who: W) => void, left: (who: W) => void = () => {}): void {
    this.#watchers.push({ came, left });
  }

  enter(reader: Reader<T, W>): void {
    this.#readers.add(reader);
    for (const { came } of this.#watchers) {
      came(reader.who);
    }
    if (this.#newest) {
      reader.push?.(this.#newest.state);
    }
  }

  /** The reader fails with the reason, if it has not ended. */
  leave(reader: Reader<T, W>, reasonOf: () => unknown): void {
    if (!this.#readers.delete(reader)) {
      return;
    }
    const reason = reasonOf();
    reader.fail(reason);
    if (this.#readers.size === 0) {
      this.#over();
      this.#left.abort(reason);
      return;
    }
    for (const { left } of this.#watchers) {
      left(reader.who);
    }
  }

  #end(tell: (reader: Reader<T, W>) => void): void {
    this.#over();
    for (const reader of this.#readers) {
      tell(reader);
    }
    this.#readers.clear();
  }
}

/**
 * A channel that keeps the newest values only: a slow reader skips states and holds little memory.
 * Values must therefore be complete states, never differences.
 */
interface Latest<T> extends AsyncIterable<T> {
  /** Pushes out the oldest value that was not read yet, where there is no room. */
  push(value: T): void;
  /** Ends the iteration after the values that were pushed. */
  end(): void;
  /** Ends the iteration with an error at once. */
  fail(error: unknown): void;
}

/**
 * Room for the states of one search: one a depth, and the last. A reader that keeps up
 * misses none, though shallow depths come many at a time; only of those beyond the greatest that can be asked for, where
 * nodes alone are the limit and a mate is near.
 */
export const statesOfSearch = requestBounds.depth.maximum + 2;

/**
 * For one reader.
 *
 * @param room how many values wait at most.
 */
export function createLatest<T>(room = 1): Latest<T> {
  const waiting: { value: T }[] = [];
  let ended = false;
  let failure: { error: unknown } | undefined;
  let wake = () => {};

  const change = (apply: () => void) => {
    apply();
    wake();
  };
  return {
    push: (value) =>
      change(() => {
        waiting.push({ value });
        if (waiting.length > room) {
          waiting.shift();
        }
      }),
    end: () =>
      change(() => {
        ended = true;
      }),
    fail: (error) =>
      change(() => {
        failure ??= { error };
      }),
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (failure) {
          throw failure.error;
        }
        const next = waiting.shift();
        if (next) {
          yield next.value;
        } else if (ended) {
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
