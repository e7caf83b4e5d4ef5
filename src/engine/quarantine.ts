import { LRUCache } from "lru-cache";
import type { EngineBuild, FailureKind, SearchJob } from "./engine.ts";

/** Positions that break engines, each by the build that it breaks. */
export interface Quarantine {
  /** How long the search is still refused, in milliseconds; 0 if it may be tried. */
  refusedMs(build: EngineBuild, job: SearchJob): number;
  /** Notes a failure. Only what an engine does of itself, or what the watchdog had to end, counts. */
  note(build: EngineBuild, job: SearchJob, kind: FailureKind): void;
}

const strikesMax = 2;
const counted: ReadonlySet<FailureKind> = new Set(["exited", "flooded", "deaf", "overran"]);

/** A position that has broken two engines within `refuseMs` is refused for that long. */
export function createQuarantine(refuseMs = 60_000): Quarantine {
  const strikes = new LRUCache<string, number>({ max: 10_000, ttl: refuseMs });
  return {
    refusedMs(build, job) {
      if (strikes.size === 0) {
        return 0;
      }
      const key = keyOf(build, job);
      return (strikes.get(key) ?? 0) >= strikesMax ? Math.ceil(strikes.getRemainingTTL(key)) : 0;
    },
    note(build, job, kind) {
      if (counted.has(kind)) {
        const key = keyOf(build, job);
        strikes.set(key, (strikes.get(key) ?? 0) + 1);
      }
    },
  };
}

function keyOf({ id, path, file }: EngineBuild, { position }: SearchJob): string {
  return `${id} ${path} ${file} ${position.fen}`;
}
