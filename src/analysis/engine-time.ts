import { now } from "../time/time.ts";

/**
 * The times in which engines run a search, by `now()`. A retried search has several such times. The time between
 * them does not count, because another engine was started or cleaned.
 */
interface RunTimes {
  begin(): void;
  end(): void;
  /** Drops all times. Call this when the search is set back, because no caller is charged for the lost time. */
  forget(): void;
  /** Milliseconds in which an engine ran since the time `since`. */
  engineMs(since: number): number;
}

export function createRunTimes(): RunTimes {
  let ended: { readonly from: number; readonly to: number }[] = [];
  let runningSince: number | undefined;
  return {
    begin() {
      runningSince = now();
    },
    end() {
      if (runningSince !== undefined) {
        ended.push({ from: runningSince, to: now() });
        runningSince = undefined;
      }
    },
    forget() {
      ended = [];
      runningSince = undefined;
    },
    engineMs(since) {
      const running = runningSince === undefined ? [] : [{ from: runningSince, to: now() }];
      return [...ended, ...running].reduce(
        (sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)),
        0,
      );
    },
  };
}

export interface SearchCaller {
  readonly flow: string;
  readonly isStream: boolean;
  joins(run: RunTimes): void;
  /** Milliseconds in which an engine ran while the caller waited. */
  engineMs(): number;
}

export function createSearchCaller(flow: string, isStream: boolean): SearchCaller {
  let run: RunTimes | undefined;
  let joinedAt = 0;
  return {
    flow,
    isStream,
    joins(joined) {
      run = joined;
      joinedAt = now();
    },
    engineMs: () => run?.engineMs(joinedAt) ?? 0,
  };
}
