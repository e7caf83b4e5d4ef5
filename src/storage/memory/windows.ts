import type { LimitWindow, WindowUse } from "../ports.ts";

/** Windows that are counted in this process. Each begins with its first use. */
export interface Windows {
  /** A window that has not begun is unused, and lasts its whole length. */
  of(window: LimitWindow): WindowUse;
  /** Counts, and returns the use after that. A negative count gives back, unless the window has ended. */
  add(window: LimitWindow, count: number): WindowUse;
  /** Continues a window of an earlier process. */
  restore(window: Omit<LimitWindow, "windowMs">, use: WindowUse): void;
  /** How many are in memory. */
  readonly size: number;
}

/** Windows that have ended are removed when this many are in memory, or twice as many as were left the last time. */
const sweptMin = 1000;

export function createWindows(): Windows {
  const begun = new Map<string, { used: number; readonly endsAt: number }>();
  let sweptAt = sweptMin;
  // Not the wall clock, which may be set back.
  const clock = () => Math.floor(performance.now());

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

  const windows: Windows = {
    get size() {
      return begun.size;
    },
    of(window) {
      const { used, endsAt } = running(nameOf(window)) ?? { used: 0, endsAt: Number.POSITIVE_INFINITY };
      return { used, endsInMs: Math.min(endsAt - clock(), window.windowMs) };
    },
    add(window, count) {
      const known = running(nameOf(window));
      if (known) {
        known.used += count;
      } else if (count > 0) {
        begin(nameOf(window), count, window.windowMs);
      }
      return windows.of(window);
    },
    restore: (window, { used, endsInMs }) => begin(nameOf(window), used, endsInMs),
  };
  return windows;
}

const nameOf = ({ rate, subject }: Omit<LimitWindow, "windowMs">) => `${rate} ${subject}`;
