/**
 * A channel that keeps only the newest value: a slow reader skips states and holds no memory.
 * Values must therefore be complete states, never differences.
 */
export interface Latest<T> extends AsyncIterable<T> {
  /** Replaces a value that was not read yet. */
  push(value: T): void;
  /** Ends the iteration after the values that were pushed. */
  end(): void;
  /** Ends the iteration with an error at once. */
  fail(error: unknown): void;
}

/** For one reader. */
export function createLatest<T>(): Latest<T> {
  let waiting: { value: T } | undefined;
  let ended = false;
  let failure: { error: unknown } | undefined;
  let wake = () => {};

  const change = (apply: () => void) => {
    apply();
    wake();
  };
  return {
    push: (value) => change(() => (waiting = { value })),
    end: () => change(() => (ended = true)),
    fail: (error) => change(() => (failure ??= { error })),
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (failure) {
          throw failure.error;
        }
        if (waiting) {
          const { value } = waiting;
          waiting = undefined;
          yield value;
        } else if (ended) {
          return;
        } else {
          await new Promise<void>((resolve) => (wake = resolve));
        }
      }
    },
  };
}
