import { restMs } from "../analysis/expected-time.ts";

/** Counts what each subject has under way. */
export interface InFlight {
  /**
   * Lets one more in, unless so many are under way.
   *
   * @param expectedMs what it takes, as far as one can tell.
   */
  enter(subject: string, max: number, expectedMs: number): Disposable | undefined;
  /** Milliseconds until one of the subject's should have ended. */
  firstEndMs(subject: string): number;
  /**
   * Resolves when fewer than so many are under way: at once, where that is so already. Whoever asks next may be quicker.
   * Rejects with the reason of `signal`.
   */
  placeFree(subject: string, max: number, signal: AbortSignal): Promise<void>;
}

/** A subject that has something under way. */
interface Running {
  readonly searches: { readonly startedAt: number; readonly expectedMs: number }[];
  /** Made when the first one waits: mostly nobody does. */
  waiting?: Set<() => void>;
}

export function createInFlight(): InFlight {
  const subjects = new Map<string, Running>();

  return {
    enter(subject, max, expectedMs) {
      const running = subjects.get(subject) ?? { searches: [] };
      if (running.searches.length >= max) {
        return undefined;
      }
      const search = { startedAt: performance.now(), expectedMs };
      running.searches.push(search);
      subjects.set(subject, running);
      return {
        [Symbol.dispose]() {
          const index = running.searches.indexOf(search);
          if (index === -1) {
            return;
          }
          running.searches.splice(index, 1);
          if (running.searches.length === 0) {
            subjects.delete(subject);
          }
          // All of them: the first to ask again gets the place, and may have left meanwhile.
          for (const wake of running.waiting ?? []) {
            wake();
          }
        },
      };
    },
    firstEndMs(subject) {
      const now = performance.now();
      const searches = subjects.get(subject)?.searches ?? [];
      const rests = searches.map(({ startedAt, expectedMs }) => restMs(expectedMs, now - startedAt));
      return rests.length === 0 ? 0 : Math.min(...rests);
    },
    async placeFree(subject, max, signal) {
      signal.throwIfAborted();
      const running = subjects.get(subject);
      // Between a refusal and this call one may have ended: its end wakes nobody who comes after it.
      if (running === undefined || running.searches.length < max) {
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = () => reject(signal.reason);
      running.waiting ??= new Set();
      const { waiting } = running;
      waiting.add(resolve);
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        await promise;
      } finally {
        waiting.delete(resolve);
        signal.removeEventListener("abort", giveUp);
      }
    },
  };
}
