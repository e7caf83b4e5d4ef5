/** A caller who waits for a search that was begun for them, or that they found under way. */
export interface Asker {
  /** Whose work it counts as. */
  readonly flow: string;
  /** They are among those who wait for this search from now on. */
  joins(run: RunTimes): void;
  /** They have gone, though nobody may have noticed: whoever reads slowly is told of nothing for a long time. */
  leaves(): void;
  /**
   * Milliseconds of engine time that are theirs to answer for when they leave without an answer: how long their
   * search has run while they waited for it, and not how long its answer has waited for them.
   */
  engineMs(): number;
}

/** When a search had its engine, by `performance.now()`. */
export interface RunTimes {
  begunAt: number | undefined;
  endedAt: number | undefined;
  /** What the engine says that it took, when it has answered. */
  engineMs: number | undefined;
}

export function createAsker(flow: string): Asker {
  let run: RunTimes | undefined;
  let joinedAt = 0;
  let leftAt: number | undefined;
  return {
    flow,
    joins(joined) {
      run = joined;
      joinedAt = performance.now();
    },
    leaves() {
      leftAt ??= performance.now();
    },
    engineMs() {
      if (run?.begunAt === undefined) {
        return 0;
      }
      const { begunAt, endedAt, engineMs } = run;
      const untilMs = Math.min(leftAt ?? performance.now(), endedAt ?? Number.POSITIVE_INFINITY);
      if (engineMs !== undefined && untilMs === endedAt) {
        return engineMs;
      }
      return Math.max(0, untilMs - Math.max(begunAt, joinedAt));
    },
  };
}
