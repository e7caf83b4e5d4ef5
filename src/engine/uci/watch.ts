import type { UciTransport } from "./transport.ts";

export interface Deadline {
  clear(): void;
}

/** Reads pending input before `missed`: if this process was paused, Node runs timers before it reads pipes. */
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

interface SilenceWatch {
  heard(): void;
  end(): void;
}

/** Sends `isready` to a silent engine, because an engine must answer it even while it searches. */
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

export interface WatchTimes {
  /** The time from the start of the process to `readyok`. The full network takes 1 s, and several seconds under load. */
  readonly startMs: number;
  /** The length of the silence in a search after which `isready` is sent. */
  readonly silenceMs: number;
  /** The time from `isready` to `readyok`. WebAssembly engines read their input every 46 ms in a search. */
  readonly unresponsiveMs: number;
  /** The time from the limit of a search to `stop`. */
  readonly lateMs: number;
  /**
   * The time from `stop` to `bestmove`, and the extra time for a first line after the limit. Clients are promised an answer or an
   * error within 1500 ms after the limit; `lateMs` and twice `stopMs` are 1000 ms of that.
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
 * The output limit counts from the start of a search. Ten lines of 30 plies at 30 depths are 0.1 million characters; if a mate is
 * near, ten lines at 245 depths are 0.4 million within milliseconds.
 */
const burstChars = 1_000_000;
const charsPerSecond = 250_000;

/** Counts also an idle engine, because the thread that reads its output serves all clients. */
interface FloodMeter {
  /** Counts a line. Returns true if it exceeds the output limit. */
  floods(line: string): boolean;
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
