/** A moment by which something must have happened. */
export interface Deadline {
  /** It has happened. */
  clear(): void;
}

/**
 * Calls `missed` after so many milliseconds, but not before everything that has arrived by then is read:
 * when the whole process stood still (SIGSTOP, a collection of memory), timers are due before pipes are
 * looked at, and the answer that was waited for lies in the pipe.
 */
export function createDeadline(ms: number, missed: () => void): Deadline {
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    lastLook = setImmediate(missed);
  }, ms);
  return {
    clear() {
      clearTimeout(timer);
      clearImmediate(lastLook);
    },
  };
}
