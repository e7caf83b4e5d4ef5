import { now } from "../../time/time.ts";
import type { RunningSearch } from "../ports.ts";

/** Counts the searches in flight of each caller in this process. Other instances count batches and reviews instead. */
export function createPlaces(onFreed: (subject: string) => void = () => {}) {
  const taken = new Map<string, Set<{ readonly at: number; readonly expectedMs: number }>>();
  return {
    /** Counts one more search in flight until the result is disposed of. */
    take(subject: string, expectedMs: number): Disposable {
      const place = { at: now(), expectedMs };
      const places = taken.get(subject) ?? new Set();
      taken.set(subject, places.add(place));
      return {
        [Symbol.dispose]() {
          if (!places.delete(place)) {
            return;
          }
          if (places.size === 0) {
            taken.delete(subject);
          }
          onFreed(subject);
        },
      };
    },
    of(subject: string): readonly RunningSearch[] {
      const nowMs = now();
      return Array.from(taken.get(subject) ?? [], ({ at, expectedMs }) => ({
        expectedMs,
        elapsedMs: nowMs - at,
      }));
    },
  };
}
