import { EventEmitter, once } from "node:events";

/** Counts the searches or long calls that each caller has under way in this process. */
export interface Places {
  /** Takes a place until it is disposed of. @param expectedMs how long it is expected to last */
  take(subject: string, expectedMs: number): Disposable;
  /** The places of a subject. Times are in milliseconds. */
  of(subject: string): readonly { readonly expectedMs: number; readonly elapsedMs: number }[];
  /** Resolves when the next place of the subject is free. Rejects with the reason of `signal`. */
  nextFree(subject: string, signal: AbortSignal): Promise<void>;
}

export function createPlaces(): Places {
  const taken = new Map<string, Set<{ readonly at: number; readonly expectedMs: number }>>();
  const freed = new EventEmitter().setMaxListeners(0);
  const eventOf = (subject: string) => `free ${subject}`;
  return {
    take(subject, expectedMs) {
      const place = { at: performance.now(), expectedMs };
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
          freed.emit(eventOf(subject));
        },
      };
    },
    of(subject) {
      const now = performance.now();
      return Array.from(taken.get(subject) ?? [], ({ at, expectedMs }) => ({
        expectedMs,
        elapsedMs: now - at,
      }));
    },
    async nextFree(subject, signal) {
      await once(freed, eventOf(subject), { signal }).catch(() => signal.throwIfAborted());
    },
  };
}
