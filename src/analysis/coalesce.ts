import { createLatest, type Latest, statesOfSearch } from "../engine/latest.ts";

/** Lets equal requests that are under way at the same time share one run of the work. */
export interface Coalescer<T> {
  /**
   * The states of the work called `key`: of the run under way, its newest state first, or else of a new one
   * that `start` begins. The work lives as long as its last reader, not as its first; what ends it ends all.
   *
   * @param key undefined for work that is not to be shared.
   * @param start its signal is aborted when nobody wants the work any more, with the last reader's reason.
   * @throws what the work throws; the reason of `signal`.
   */
  join(
    key: string | undefined,
    start: (signal: AbortSignal) => AsyncIterable<T>,
    signal: AbortSignal,
  ): AsyncIterable<T>;
  readonly counters: CoalescerCounters;
}

/** Since the start: readers for whom work was begun, and those who found it under way. */
export interface CoalescerCounters {
  readonly started: number;
  readonly joined: number;
}

export function createCoalescer<T>(): Coalescer<T> {
  const underWay = new Map<string, SharedRun<T>>();
  let started = 0;
  let joined = 0;

  function begin(key: string | undefined, start: (signal: AbortSignal) => AsyncIterable<T>): SharedRun<T> {
    started++;
    const run = new SharedRun<T>(() => {
      if (key !== undefined && underWay.get(key) === run) {
        underWay.delete(key);
      }
    });
    if (key !== undefined) {
      underWay.set(key, run);
    }
    void run.drive(start);
    return run;
  }

  return {
    get counters() {
      return { started, joined };
    },
    async *join(key, start, signal) {
      signal.throwIfAborted();
      const known = key === undefined ? undefined : underWay.get(key);
      if (known) {
        joined++;
      }
      const run = known ?? begin(key, start);
      const reader = run.enter();
      // At once, and not when the reader next asks for a state: that may be never.
      const giveUp = () => run.leave(reader, signal.reason);
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        yield* reader;
      } finally {
        signal.removeEventListener("abort", giveUp);
        run.leave(reader, new Error("the last reader has stopped reading"));
      }
    },
  };
}

/** One run of the work, and those who read it. */
class SharedRun<T> {
  readonly #readers = new Set<Latest<T>>();
  readonly #left = new AbortController();
  readonly #over: () => void;
  #newest: { readonly state: T } | undefined;

  /** @param over called once, as soon as nobody should join any more. */
  constructor(over: () => void) {
    this.#over = over;
  }

  enter(): Latest<T> {
    const reader = createLatest<T>(statesOfSearch);
    this.#readers.add(reader);
    if (this.#newest) {
      reader.push(this.#newest.state);
    }
    return reader;
  }

  /** The reader's iteration fails with the reason, if it has not ended. */
  leave(reader: Latest<T>, reason: unknown): void {
    if (!this.#readers.delete(reader)) {
      return;
    }
    reader.fail(reason);
    if (this.#readers.size === 0) {
      this.#over();
      this.#left.abort(reason);
    }
  }

  /** Never rejects: failures go to the readers, and when all have left there is nobody to be told. */
  async drive(start: (signal: AbortSignal) => AsyncIterable<T>): Promise<void> {
    try {
      for await (const state of start(this.#left.signal)) {
        this.#newest = { state };
        for (const reader of this.#readers) {
          reader.push(state);
        }
      }
      this.#end((reader) => reader.end());
    } catch (error) {
      this.#end((reader) => reader.fail(error));
    }
  }

  #end(tell: (reader: Latest<T>) => void): void {
    this.#over();
    for (const reader of this.#readers) {
      tell(reader);
    }
    this.#readers.clear();
  }
}
