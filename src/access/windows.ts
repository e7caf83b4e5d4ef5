import type { SharedWindow, WindowUse } from "../storage/ports.ts";

/** Windows that are counted in this process. Each begins with its first use. */
export interface Windows {
  /** How a window stands. One that has not begun is unused, and lasts its whole length. */
  of(window: SharedWindow): WindowUse;
  /** Counts, and returns how the window stands then. A negative count gives back, unless the window has ended. */
  add(window: SharedWindow, count: number): WindowUse;
  /** Continues a window of an earlier process. */
  restore(window: SharedWindow, use: WindowUse): void;
  /** How many are kept: a window that has ended is removed when another one of its length begins. */
  readonly size: number;
}

interface Begun {
  used: number;
  readonly endsAt: number;
}

export function createWindows(): Windows {
  /** By their length: windows of one length end in the order in which they begin. */
  const byLength = new Map<number, Map<string, Begun>>();
  // Not the wall clock, which may be set back.
  const clock = () => Math.floor(performance.now());

  function sameLength({ windowMs }: SharedWindow): Map<string, Begun> {
    const same = byLength.get(windowMs) ?? new Map<string, Begun>();
    byLength.set(windowMs, same);
    return same;
  }

  function running(window: SharedWindow): Begun | undefined {
    const begun = sameLength(window).get(nameOf(window));
    return begun && begun.endsAt > clock() ? begun : undefined;
  }

  function begin(window: SharedWindow, used: number, endsInMs: number): void {
    const now = clock();
    const same = sameLength(window);
    for (const [name, { endsAt }] of same) {
      if (endsAt > now) {
        break;
      }
      same.delete(name);
    }
    same.delete(nameOf(window));
    same.set(nameOf(window), { used, endsAt: now + endsInMs });
  }

  const windows: Windows = {
    get size() {
      return byLength.values().reduce((sum, { size }) => sum + size, 0);
    },
    of(window) {
      const begun = running(window);
      return begun
        ? { used: begun.used, endsInMs: begun.endsAt - clock() }
        : { used: 0, endsInMs: window.windowMs };
    },
    add(window, count) {
      const begun = running(window);
      if (begun) {
        begun.used += count;
      } else if (count > 0) {
        begin(window, count, window.windowMs);
      }
      return windows.of(window);
    },
    restore(window, { used, endsInMs }) {
      begin(window, used, Math.min(endsInMs, window.windowMs));
    },
  };
  return windows;
}

const nameOf = ({ rate, subject }: SharedWindow) => `${rate} ${subject}`;
