import { now } from "../time/time.ts";

interface InFlightOptions {
  /** The maximum of all holders together. */
  readonly max?: number;
  /** When more than half of `max` is in use, a holder with a limit may have only this share of what is free. */
  readonly shareOfFree?: number;
  readonly onFreed?: (holder: string) => void;
}

/** The limit that is reached: the limit of the holder, or the limit of all holders together. */
export interface FullLimit {
  readonly of: "holder" | "all";
  readonly max: number;
}

/** A holder without a name counts only towards the maximum of all holders. */
type Holder = string | undefined;

/** Counts what is in flight for each holder: connections and calls of an address, or searches and batches of a caller. */
export function createInFlight({
  max = Number.POSITIVE_INFINITY,
  shareOfFree = Number.POSITIVE_INFINITY,
  onFreed = () => {},
}: InFlightOptions = {}) {
  const byHolder = new Map<string, Set<{ readonly at: number; readonly expectedMs: number }>>();
  let all = 0;
  return {
    /** Returns the limit that allows no more for this holder, or undefined if {@link take} may be called. */
    fullFor(holder: Holder, maxOfHolder: number): FullLimit | undefined {
      if (all >= max) {
        return { of: "all", max };
      }
      const isShared = all > max / 2 && Number.isFinite(maxOfHolder);
      const own = isShared ? Math.min(maxOfHolder, Math.ceil((max - all) * shareOfFree)) : maxOfHolder;
      const isFull = holder !== undefined && (byHolder.get(holder)?.size ?? 0) >= own;
      return isFull ? { of: "holder", max: own } : undefined;
    },
    /** Counts one more until the result is disposed of. */
    take(holder: Holder, expectedMs = 0): Disposable {
      const one = { at: now(), expectedMs };
      const own = (holder === undefined ? undefined : byHolder.get(holder)) ?? new Set();
      own.add(one);
      all++;
      if (holder !== undefined) {
        byHolder.set(holder, own);
      }
      return {
        [Symbol.dispose]() {
          if (!own.delete(one)) {
            return;
          }
          all--;
          if (holder !== undefined) {
            if (own.size === 0) {
              byHolder.delete(holder);
            }
            onFreed(holder);
          }
        },
      };
    },
    /** The times of what the holder has in flight, oldest first. */
    of(holder: string): readonly { readonly expectedMs: number; readonly elapsedMs: number }[] {
      const nowMs = now();
      return Array.from(byHolder.get(holder) ?? [], ({ at, expectedMs }) => ({
        expectedMs,
        elapsedMs: nowMs - at,
      }));
    },
  };
}
