/** The times when a search received and released its engine, by `performance.now()`. */
export interface RunTimes {
  begunAt: number | undefined;
  endedAt: number | undefined;
}

export interface Waiter {
  readonly isStream: boolean;
  joins(run: RunTimes): void;
  /** Milliseconds that the engine searched while the caller waited. */
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
