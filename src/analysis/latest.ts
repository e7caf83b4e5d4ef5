/**
 * A channel that keeps the newest values only: a slow reader skips states and holds little memory.
 * Values must therefore be complete states, never differences.
 */
export interface Latest<T> extends AsyncIterable<T> {
  /** Pushes out the oldest value that was not read yet, where there is no room. */
  push(value: T): void;
  /** Ends the iteration after the values that were pushed. */
  end(): void;
  /** Ends the iteration with an error at once. */
  fail(error: unknown): void;
}

/**
 * Room for the states of one search: one a depth, of at most 30, and the last. A reader that keeps up
 * misses none, though shallow depths come many at a time.
 */
export const statesOfSearch = 32;

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
