import type { EngineBuild, FailureKind } from "./engine.ts";

/** What has become of the engines of one build since the start of this process. */
export interface EngineCounters {
  started: number;
  searches: number;
  /** Closed while idle, for memory or because there were too many. */
  retired: number;
  /** Closed and replaced after many searches, or because they grew. */
  recycled: number;
  readonly failures: Map<FailureKind, number>;
}

/** Counters by build. */
export interface EngineTally {
  of(build: EngineBuild): EngineCounters;
  readonly all: ReadonlyMap<EngineBuild, Readonly<EngineCounters>>;
}

export function createEngineTally(): EngineTally {
  const all = new Map<EngineBuild, EngineCounters>();
  return {
    all,
    of(build) {
      const known = all.get(build);
      if (known) {
        return known;
      }
      const counters: EngineCounters = {
        started: 0,
        searches: 0,
        retired: 0,
        recycled: 0,
        failures: new Map(),
      };
      all.set(build, counters);
      return counters;
    },
  };
}

/** Counts one more failure. */
export function countFailure({ failures }: EngineCounters, kind: FailureKind): void {
  failures.set(kind, (failures.get(kind) ?? 0) + 1);
}
