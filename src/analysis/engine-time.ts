/** The times at which a search got and gave back its engine, by `performance.now()`. */
export interface RunTimes {
  begunAt: number | undefined;
  endedAt: number | undefined;
}

/** A caller that waits for a search, which it started or joined. */
export interface Waiter {
  /** True if the caller reads all states, and not only the last one. */
  readonly isStream: boolean;
  /** Notes that the caller waits for this search from now on. */
  joins(run: RunTimes): void;
  /**
   * Returns the time for which the search has had its engine while the caller waited, in milliseconds. A caller that leaves
   * without an answer is charged for it.
   */
  engineMs(): number;
}

export function createWaiter(isStream: boolean): Waiter {
  let run: RunTimes | undefined;
  let joinedAt = 0;
  return {
    isStream,
    joins(joined) {
      run = joined;
      joinedAt = performance.now();
    },
    engineMs() {
      const { begunAt, endedAt = performance.now() } = run ?? {};
      return begunAt === undefined ? 0 : Math.max(0, endedAt - Math.max(begunAt, joinedAt));
    },
  };
}
