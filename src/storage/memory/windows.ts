import { now } from "../../time/time.ts";
import type { LimitWindow, WindowUse } from "../ports.ts";

/** Ended windows are first removed at this number of windows, and again each time the number of windows has doubled. */
const sweptMin = 1000;

export function createWindows() {
  const begun = new Map<string, { used: number; readonly endsAt: number }>();
  let sweptAt = sweptMin;
  // Use a monotonic clock, because the wall clock may be set back.
  const clock = () => Math.floor(now());

  function running(name: string) {
    const window = begun.get(name);
    return window && window.endsAt > clock() ? window : undefined;
  }

  function begin(name: string, used: number, endsInMs: number): void {
    const now = clock();
    if (begun.size >= sweptAt) {
      for (const [ended, { endsAt }] of begun) {
        if (endsAt <= now) {
          begun.delete(ended);
        }
      }
      sweptAt = Math.max(sweptMin, 2 * begun.size);
    }
    begun.set(name, { used, endsAt: now + endsInMs });
  }

  /** If the window has not begun, returns 0 uses and the full length of the window. */
  function useOf(window: LimitWindow): WindowUse {
    const { used, endsAt } = running(nameOf(window)) ?? { used: 0, endsAt: Number.POSITIVE_INFINITY };
    return { used, endsInMs: Math.min(endsAt - clock(), window.windowMs) };
  }

  return {
    get size() {
      return begun.size;
    },
    of: useOf,
    /** Returns the total of the window after the addition. A negative `count` is ignored if the window has ended. */
    add(window: LimitWindow, count: number): WindowUse {
      const known = running(nameOf(window));
      if (known) {
        known.used += count;
      } else if (count > 0) {
        begin(nameOf(window), count, window.windowMs);
      }
      return useOf(window);
    },
    /** Begins the window again. The window ends at the latest after its full length: a later end comes from a wrong clock. */
    restore(window: LimitWindow, { used, endsInMs }: WindowUse): WindowUse {
      begin(nameOf(window), used, Math.min(endsInMs, window.windowMs));
      return useOf(window);
    },
  };
}

const nameOf = ({ rate, subject }: LimitWindow) => `${rate} ${subject}`;
