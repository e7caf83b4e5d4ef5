import { createLatest, statesOfSearch } from "./latest.ts";

/**
 * Lets equal requests that are under way at the same time share one run of the work. It lives as long as its
 * last reader, not as its first; what ends it ends all.
 */
export interface Coalescer<T> {
  /**
   * The last state of the work called `key`: of the run under way, or else of a new one.
   *
   * @param key undefined for work that is not to be shared.
   * @throws what the work throws; the reason of `signal`.
   */
  last(key: string | undefined, work: SharedWork<T>, signal: AbortSignal): Promise<T>;
  /** All states, the newest one first where the run is under way already. */
  all(key: string | undefined, work: SharedWork<T>, signal: AbortSignal): AsyncIterable<T>;
  readonly counters: CoalescerCounters;
}

/**
 * Work that is worth sharing: publishes states, and resolves with the last one.
 *
 * @param signal aborted when nobody wants the work any more, with the last reader's reason.
 */
export type SharedWork<T> = (publish: (state: T) => void, signal: AbortSignal) => Promise<T>;

/** Since the start: readers for whom work was begun, and those who found it under way. */
export interface CoalescerCounters {
  readonly started: number;
  readonly joined: number;
}

export function createCoalescer<T>(): Coalescer<T> {
  const underWay = new Map<string, SharedRun<T>>();
  let started = 0;
  let joined = 0;

  function begin(key: string | undefined, work: SharedWork<T>): SharedRun<T> {
    started++;
    const run = new SharedRun<T>(work, () => {
      if (key !== undefined && underWay.get(key) === run) {
        underWay.delete(key);
      }
    });
    if (key !== undefined) {
      underWay.set(key, run);
    }
    return run;
  }

  /** Lets a reader in, until it says that it has left. */
  function enter(
    key: string | undefined,
    work: SharedWork<T>,
    reader: Reader<T>,
    signal: AbortSignal,
  ): () => void {
    signal.throwIfAborted();
    const known = key === undefined ? undefined : underWay.get(key);
    if (known) {
      joined++;
    }
    const run = known ?? begin(key, work);
    run.enter(reader);
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
    async last(key, work, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const leave = enter(key, work, { push() {}, end: resolve, fail: reject }, signal);
      try {
        return await promise;
      } finally {
        leave();
      }
    },
    async *all(key, work, signal) {
      const states = createLatest<T>(statesOfSearch);
      const end = (last: T) => {
        states.push(last);
        states.end();
      };
      const leave = enter(key, work, { push: states.push, end, fail: states.fail }, signal);
      try {
        yield* states;
      } finally {
        leave();
      }
    },
  };
}

/** Where one who waits is told. */
interface Reader<T> {
  push(state: T): void;
  end(last: T): void;
  fail(error: unknown): void;
}

/** One run of the work, and those who wait for it. */
class SharedRun<T> {
  readonly #readers = new Set<Reader<T>>();
  readonly #left = new AbortController();
  readonly #over: () => void;
  #newest: { readonly state: T } | undefined;

  /** @param over called once, as soon as nobody should join any more. */
  constructor(work: SharedWork<T>, over: () => void) {
    this.#over = over;
    const publish = (state: T) => {
      this.#newest = { state };
      for (const reader of this.#readers) {
        reader.push(state);
      }
    };
    // Failures go to the readers, and when all have left there is nobody to be told.
    work(publish, this.#left.signal).then(
      (last) => this.#end((reader) => reader.end(last)),
      (error) => this.#end((reader) => reader.fail(error)),
    );
  }

  enter(reader: Reader<T>): void {
    this.#readers.add(reader);
    if (this.#newest) {
      reader.push(this.#newest.state);
    }
  }

  /** The reader fails with the reason, if it has not ended. */
  leave(reader: Reader<T>, reasonOf: () => unknown): void {
    if (!this.#readers.delete(reader)) {
      return;
    }
    const reason = reasonOf();
    reader.fail(reason);
    if (this.#readers.size === 0) {
      this.#over();
      this.#left.abort(reason);
    }
  }

  #end(tell: (reader: Reader<T>) => void): void {
    this.#over();
    for (const reader of this.#readers) {
      tell(reader);
    }
    this.#readers.clear();
  }
}
