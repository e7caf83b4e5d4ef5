import { now } from "../../time/time.ts";

/** Counts what each holder, such as an address, uses in a window. All holders share the beginning of a window. */
interface Rate {
  /** False if the holder has used up its window. Otherwise counts `cost`, even if more is used than the window has. */
  take(holder: string, cost?: number): boolean;
  /** Counts a cost that is known only afterwards. */
  add(holder: string, cost: number): void;
  /** Milliseconds until the window ends. */
  readonly endsInMs: number;
}

export function createRate(max: number, windowMs: number, clock = now): Rate {
  const used = new Map<string, number>();
  let endsAt = Number.NEGATIVE_INFINITY;

  function usedBy(holder: string): number {
    if (clock() >= endsAt) {
      // Forgets every holder, so that the memory is bounded by the holders of one window.
      used.clear();
      endsAt = clock() + windowMs;
    }
    return used.get(holder) ?? 0;
  }

  function add(holder: string, cost: number): void {
    used.set(holder, usedBy(holder) + cost);
  }

  return {
    take(holder, cost = 1) {
      if (usedBy(holder) >= max) {
        return false;
      }
      add(holder, cost);
      return true;
    },
    add,
    get endsInMs() {
      return Math.max(0, endsAt - clock());
    },
  };
}
