/** The times at which a search got and gave back its engine, by `performance.now()`. */
export interface RunTimes {
  begunAt: number | undefined;
  endedAt: number | undefined;
}

export interface Waiter {
  /** True if the caller reads all states, and not only the last one. */
  readonly isStream: boolean;
  joins(run: RunTimes): void;
  /** The engine's time while the caller waited. A caller that leaves without an answer is charged for it. */
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
