import type { UciTransport } from "./transport.ts";

/** A moment by which something must have happened. */
export interface Deadline {
  /** It has happened. */
  clear(): void;
}

/**
 * Calls `missed` after so many milliseconds, but not before everything that has arrived by then is read: when this process
 * stood still, timers are due before pipes are read, and the awaited answer lies in the pipe.
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

/** Watches for signs of life of an engine that searches. */
interface SilenceWatch {
  /** It has printed something. */
  heard(): void;
  end(): void;
}

/**
 * Asks a silent engine for a sign of life: an engine that searches must answer `isready`.
 *
 * @param onUnresponsive called if there is no answer, with the milliseconds of silence.
 */
export function watchSilence(
  transport: UciTransport,
  { silenceMs, unresponsiveMs }: WatchTimes,
  onUnresponsive: (silentMs: number) => void,
): SilenceWatch {
  let heardAt = performance.now();
  /** Set while the engine owes a sign of life. */
  let asked: Deadline | undefined;
  const listen = setInterval(() => {
    if (asked === undefined && performance.now() - heardAt >= silenceMs) {
      asked = createDeadline(unresponsiveMs, () => onUnresponsive(Math.round(performance.now() - heardAt)));
      transport.send("isready");
    }
  }, silenceMs / 2);
  return {
    heard() {
      heardAt = performance.now();
      asked?.clear();
      asked = undefined;
    },
    end() {
      clearInterval(listen);
      asked?.clear();
    },
  };
}

/** How long an engine may take for what, in milliseconds. */
export interface WatchTimes {
  /** From the start of the process to `readyok`. The full network takes 1 s; a machine under load several. */
  readonly startMs: number;
  /** Silence in a search after which the engine is asked for a sign of life. */
  readonly silenceMs: number;
  /** How long that sign may take. WASM engines read their input every 46 ms. */
  readonly unresponsiveMs: number;
  /** Past the limit of a search, when the engine is told to stop. */
  readonly lateMs: number;
  /**
   * From `stop` to `bestmove`; then it is killed. The promises to callers are 500 ms until an engine is free
   * when they leave, and 1500 ms past the limit until an answer or an error is out: `lateMs` and this.
   */
  readonly stopMs: number;
  /** From an answer to `readyok` after the new game. Clearing 16 MiB takes 1 to 2 ms. */
  readonly cleanMs: number;
}

export const defaultWatchTimes: WatchTimes = {
  startMs: 15_000,
  silenceMs: 1000,
  unresponsiveMs: 3000,
  lateMs: 200,
  stopMs: 400,
  cleanMs: 5000,
};

/**
 * What an engine may print from the start of a search on: at once, and for every second. Ten lines of 30 plies at
 * 30 depths are 0.1 million characters, ten of a few plies at 245 depths, which nodes without a depth can have in
 * milliseconds where a mate is near, 0.4 million.
 */
const burstChars = 1_000_000;
const charsPerSecond = 250_000;

/** Tells an engine that prints without an end. Busy or idle: reading it is work for the thread that serves everybody. */
interface FloodMeter {
  /** Counts a line. Returns whether it is one too many. */
  floods(line: string): boolean;
  /** Counts anew, from now on. */
  reset(): void;
}

export function createFloodMeter(now: () => number = () => performance.now()): FloodMeter {
  let chars = 0;
  let since = now();
  return {
    floods(line) {
      chars += line.length + 1;
      // The clock is looked at when it matters: engines print thousands of lines.
      return chars > burstChars && chars > burstChars + ((now() - since) / 1000) * charsPerSecond;
    },
    reset() {
      chars = 0;
      since = now();
    },
  };
}
