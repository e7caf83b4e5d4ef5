/** Counts what each subject has under way. */
export interface InFlight {
  /**
   * Lets one more in, unless so many are under way.
   *
   * @param longestMs what it takes at most, in milliseconds.
   */
  enter(subject: string, max: number, longestMs: number): Disposable | undefined;
  /** Milliseconds until one of the subject's has surely ended. */
  firstEndMs(subject: string): number;
  /** Resolves when one of the subject's has ended, or none is under way. Rejects with the reason of `signal`. */
  oneEnded(subject: string, signal: AbortSignal): Promise<void>;
}

/** A subject that has something under way. */
interface Running {
  /** By when each has surely ended, by `performance.now()`. */
  readonly ends: { readonly at: number }[];
  /** Made when the first one waits: mostly nobody does. */
  waiting?: Set<() => void>;
}

export function createInFlight(): InFlight {
  const subjects = new Map<string, Running>();

  return {
    enter(subject, max, longestMs) {
      const running = subjects.get(subject) ?? { ends: [] };
      if (running.ends.length >= max) {
        return undefined;
      }
      const end = { at: performance.now() + longestMs };
      running.ends.push(end);
      subjects.set(subject, running);
      return {
        [Symbol.dispose]() {
          const index = running.ends.indexOf(end);
          if (index === -1) {
            return;
          }
          running.ends.splice(index, 1);
          if (running.ends.length === 0) {
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
      const ends = subjects.get(subject)?.ends.map(({ at }) => at) ?? [];
      return ends.length === 0 ? 0 : Math.max(0, Math.min(...ends) - performance.now());
    },
    async oneEnded(subject, signal) {
      signal.throwIfAborted();
      const running = subjects.get(subject);
      if (running === undefined) {
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
