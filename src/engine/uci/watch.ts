import { after, every, now, soon } from "../../time/time.ts";
import type { UciTransport } from "./transport.ts";

export interface Deadline {
  clear(): void;
}

/** Calls `missed` after `ms` milliseconds, but first reads pending input, which may contain the expected line. */
export function createDeadline(ms: number, missed: () => void): Deadline {
  let lastLook: ReturnType<typeof soon> | undefined;
  const timer = after(ms, () => {
    lastLook = soon(missed);
  });
  return {
    clear() {
      timer.cancel();
      lastLook?.cancel();
    },
  };
}

interface SilenceWatch {
  heard(): void;
  /** Call this for each `readyok`. */
  answered(): void;
  /** Returns the number of `isready` that the engine has not answered yet. A getter would cost 2 kB of memory for each search. */
  unanswered(): number;
  end(): void;
}

/** Sends `isready` after a long time without output. An engine must answer `isready` even during a search. */
export function watchSilence(
  transport: UciTransport,
  { silenceMs, unresponsiveMs }: WatchTimes,
  onUnresponsive: (silentMs: number) => void,
): SilenceWatch {
  let heardAt = now();
  let probe: Deadline | undefined;
  let unanswered = 0;
  const listen = every(silenceMs / 2, () => {
    if (probe === undefined && now() - heardAt >= silenceMs) {
      probe = createDeadline(unresponsiveMs, () => onUnresponsive(Math.round(now() - heardAt)));
      unanswered++;
      transport.send("isready");
    }
  });
  return {
    answered() {
      unanswered = Math.max(0, unanswered - 1);
    },
    unanswered() {
      return unanswered;
    },
    heard() {
      heardAt = now();
      probe?.clear();
      probe = undefined;
    },
    end() {
      listen.cancel();
      probe?.clear();
    },
  };
}

export interface WatchTimes {
  /** The time limit from the start of the process to `readyok`. An engine with the full network needs 1 s or longer. */
  readonly startMs: number;
  /** Added to `startMs` for each MiB of hash, because the engine writes the whole hash table. 4 GiB have taken 14 s. */
  readonly startMsPerHashMb: number;
  /** If an engine prints nothing for this time during a search, `isready` is sent. */
  readonly silenceMs: number;
  /** The time limit for `readyok` after `isready`. During a search, WebAssembly engines read their input every 46 ms. */
  readonly unresponsiveMs: number;
  /**
   * The engine gets a `movetime` that is longer than the time limit by this time. If this process is busy and sends `stop`
   * late, the engine ends the search by itself.
   */
  readonly marginMs: number;
  /**
   * The time limit for `bestmove` after `stop`. If the engine has printed no `info` line, `stop` is also delayed by this time.
   */
  readonly stopMs: number;
  /** The time limit for `readyok` after the options are reset and the hash table is cleared. 4 GiB of hash take 1 s. */
  readonly cleanMs: number;
}

export const defaultWatchTimes: WatchTimes = {
  startMs: 15_000,
  startMsPerHashMb: 5,
  silenceMs: 1000,
  unresponsiveMs: 3000,
  marginMs: 300,
  stopMs: 400,
  cleanMs: 4000,
};

/** The output limit of a search in characters. Ten variations at 245 depths have 0.4 million characters. */
const burstChars = 1_000_000;
const charsPerSecond = 250_000;

/** Limits the output of every engine, even of an idle engine: the thread that reads the output also serves all clients. */
interface FloodMeter {
  /** Adds the length of a line. Returns true if the output limit is exceeded. */
  floods(line: string): boolean;
  reset(): void;
}

export function createFloodMeter(clock = now): FloodMeter {
  let chars = 0;
  let since = clock();
  return {
    floods(line) {
      chars += line.length + 1;
      // Read the clock only after the first million characters: a read for each of thousands of lines would be slow.
      return chars > burstChars && chars > burstChars + ((clock() - since) / 1000) * charsPerSecond;
    },
    reset() {
      chars = 0;
      since = clock();
    },
  };
}
