import type { EngineTime, LimitStore, UsageStore, WindowUse } from "../storage/ports.ts";
import { createPlaces } from "./places.ts";
import { createWindows } from "./windows.ts";

/** Counts in this process alone. */
export interface MemoryLimitStore extends LimitStore {
  /** Continues the windows of engine time that an earlier process has kept. @param lengths of windows, by their rate */
  restore(kept: readonly EngineTime[], lengths: ReadonlyMap<string, number>): void;
  /** Resolves when the subject has fewer places than `max`, which another call may take first. Rejects with the reason of `signal`. */
  placeFree(subject: string, max: number, signal: AbortSignal): Promise<void>;
  /** Writes the engine time that was used since the last time. If that fails, it is kept for the next time. */
  flush(): Promise<void>;
}

/** @param usage keeps engine time for longer than this process runs */
export function createMemoryLimitStore(usage: Pick<UsageStore, "add">): MemoryLimitStore {
  const windows = createWindows();
  const places = createPlaces();
  const unwritten = new Map<string, EngineTime>();

  function keep(time: EngineTime): void {
    const id = `${time.rate} ${time.subject}`;
    const engineMs = time.engineMs + (unwritten.get(id)?.engineMs ?? 0);
    unwritten.set(id, { ...time, engineMs });
  }

  return {
    available: true,
    async enter({ subject, concurrent, expectedMs, engineTime, requests, count }) {
      const running = places.of(subject);
      if (concurrent !== undefined && running.length >= concurrent) {
        return { kind: "busy", running };
      }
      const spent = engineTime.map(windows.of);
      if (engineTime.some(({ quota }, index) => usedOf(spent[index]) >= quota)) {
        return { kind: "spent", engineTime: spent };
      }
      const before = requests.map(windows.of);
      if (requests.some(({ quota }, index) => usedOf(before[index]) + count > quota)) {
        return { kind: "full", requests: before };
      }
      const takenAt = performance.now();
      const uses = requests.map((window) => windows.add(window, count));
      const taken = concurrent === undefined ? undefined : places.take(subject, expectedMs);
      const place = {
        giveBack() {
          const elapsedMs = performance.now() - takenAt;
          for (const [index, window] of requests.entries()) {
            // A window that has ended meanwhile has nothing to get back.
            if (elapsedMs < (uses[index]?.endsInMs ?? 0)) {
              windows.add(window, -count);
            }
          }
        },
        [Symbol.dispose]: () => taken?.[Symbol.dispose](),
      };
      return { kind: "in", place, requests: uses };
    },
    hold: places.take,
    addRefusals: async (window, count) => windows.add(window, count),
    addEngineTime(window, engineMs) {
      const { endsInMs } = windows.add(window, engineMs);
      const { rate, subject } = window;
      keep({ rate, subject, engineMs, resetsAt: Date.now() + endsInMs });
    },
    standing: async (asked) => asked.map(windows.of),
    restore(kept, lengths) {
      const now = Date.now();
      for (const { rate, subject, engineMs, resetsAt } of kept.toSorted((a, b) => a.resetsAt - b.resetsAt)) {
        const windowMs = lengths.get(rate);
        if (windowMs !== undefined) {
          windows.restore({ rate, subject, windowMs }, { used: engineMs, endsInMs: resetsAt - now });
        }
      }
    },
    async placeFree(subject, max, signal) {
      signal.throwIfAborted();
      if (places.of(subject).length >= max) {
        await places.nextFree(subject, signal);
      }
    },
    async flush() {
      const written = [...unwritten.values()];
      unwritten.clear();
      if (written.length === 0) {
        return;
      }
      try {
        await usage.add(written, Date.now());
      } catch (error) {
        // The engine time of a window that has ended no longer counts.
        written.filter(({ resetsAt }) => resetsAt > Date.now()).forEach(keep);
        throw error;
      }
    },
  };
}

const usedOf = (use: WindowUse | undefined) => use?.used ?? 0;
