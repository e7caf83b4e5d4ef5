/**
 * The only module that reads a clock or starts a timer. A test checks this, and the simulation of failures replaces the module.
 * All times are in milliseconds.
 */

/** Returns the time since the start of the process. This clock never jumps. */
export function now(): number {
  return performance.now();
}

/** Returns the time since 1970 in UTC. This clock jumps when somebody sets it. */
export function wall(): number {
  return Date.now();
}

export interface Timer {
  /** Does nothing if the timer has already ended. */
  cancel(): void;
  /** Starts the time anew. */
  refresh(): void;
  /** Lets the process end although the timer still runs. */
  unref(): Timer;
}

/** Calls `run` once after `ms`. */
export function after(ms: number, run: () => void): Timer {
  return timerOf(setTimeout(run, ms));
}

/** Calls `run` every `ms` until the timer is cancelled. */
export function every(ms: number, run: () => void): Timer {
  return timerOf(setInterval(run, ms));
}

function timerOf(timeout: NodeJS.Timeout): Timer {
  const timer: Timer = {
    // Ends both kinds of timers.
    cancel: () => clearInterval(timeout),
    refresh: () => void timeout.refresh(),
    unref() {
      timeout.unref();
      return timer;
    },
  };
  return timer;
}

/** Calls `run` after the input and output that are ready now have been handled. */
export function soon(run: () => void): Pick<Timer, "cancel"> {
  const immediate = setImmediate(run);
  return { cancel: () => clearImmediate(immediate) };
}

/** Resolves after the input and output that are ready now have been handled. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

interface SleepOptions {
  readonly signal?: AbortSignal;
  /** If false, the process may end during the sleep. */
  readonly ref?: boolean;
}

/** Rejects with the abort reason of `signal`. */
export function sleep(ms: number, { signal, ref = true }: SleepOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
    if (!ref) {
      timer.unref();
    }
  });
}

/** Returns a signal that is aborted after `ms`. The process may end before. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(ms);
}
