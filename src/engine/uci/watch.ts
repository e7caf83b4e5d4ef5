import type { UciTransport } from "./transport.ts";

/** A timer that runs until an event happens or its time is over. */
export interface Deadline {
  /** Call this when the event has happened, or when the deadline does not matter any more. */
  clear(): void;
}

/**
 * Calls `missed` after `ms` milliseconds, but reads pending input first. If this process was paused, Node runs timers before it
 * reads pipes, and the awaited line may already be in the pipe.
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

/** A watch that notices if a searching engine is silent. */
interface SilenceWatch {
  /** Call this when the engine has printed something. */
  heard(): void;
  end(): void;
}

/**
 * Sends `isready` to a silent engine, because an engine must answer it even while it searches.
 *
 * @param onUnresponsive called with the length of the silence in milliseconds if there is no answer
 */
export function watchSilence(
  transport: UciTransport,
  { silenceMs, unresponsiveMs }: WatchTimes,
  onUnresponsive: (silentMs: number) => void,
): SilenceWatch {
  let heardAt = performance.now();
  /** The deadline of the answer to `isready`; undefined if the engine owes no answer. */
  let probe: Deadline | undefined;
  const listen = setInterval(() => {
    if (probe === undefined && performance.now() - heardAt >= silenceMs) {
      probe = createDeadline(unresponsiveMs, () => onUnresponsive(Math.round(performance.now() - heardAt)));
      transport.send("isready");
    }
  }, silenceMs / 2);
  return {
    heard() {
      heardAt = performance.now();
      probe?.clear();
      probe = undefined;
    },
    end() {
      clearInterval(listen);
      probe?.clear();
    },
  };
}

/** Time limits of an engine, in milliseconds. */
export interface WatchTimes {
  /** The time from the start of the process to `readyok`. The full network takes 1 s, and several seconds under load. */
  readonly startMs: number;
  /** The length of the silence in a search after which `isready` is sent. */
  readonly silenceMs: number;
  /**
   * The time from `isready` to `readyok`, during or after a search. WebAssembly engines read their input every 46 ms in a search.
   */
  readonly unresponsiveMs: number;
  /** The time from the limit of a search to `stop`. */
  readonly lateMs: number;
  /**
   * The time from `stop` to `bestmove`, and the extra time for the first line of a search that has none at its limit. Clients are
   * promised an answer or an error within 1500 ms after the limit; `lateMs` and twice `stopMs` are 1000 ms of that.
   */
  readonly stopMs: number;
}

export const defaultWatchTimes: WatchTimes = {
  startMs: 15_000,
  silenceMs: 1000,
  unresponsiveMs: 3000,
  lateMs: 200,
  stopMs: 400,
};

/**
 * The output limit of an engine, counted from the start of a search: a burst of characters, and more for every second. Ten lines
 * of 30 plies at 30 depths are 0.1 million characters. Ten lines of a few plies at 245 depths are 0.4 million; if a mate is near,
 * a search without a depth prints them within milliseconds.
 */
const burstChars = 1_000_000;
const charsPerSecond = 250_000;

/** Counts the output of an engine, even of an idle one, because the thread that reads it serves all clients. */
interface FloodMeter {
  /** Counts a line. Returns true if it exceeds the output limit. */
  floods(line: string): boolean;
  /** Starts to count the output from zero. */
  reset(): void;
}

export function createFloodMeter(now: () => number = () => performance.now()): FloodMeter {
  let chars = 0;
  let since = now();
  return {
    floods(line) {
      chars += line.length + 1;
      // Read the clock only if the burst is exceeded, because engines print thousands of lines.
      return chars > burstChars && chars > burstChars + ((now() - since) / 1000) * charsPerSecond;
    },
    reset() {
      chars = 0;
      since = now();
    },
  };
}
