/**
 * What an engine may print from the start of a search on: at once, and for every second. Ten lines of 30 plies at
 * 30 depths are 0.1 million characters.
 */
const burstChars = 1_000_000;
const charsPerSecond = 250_000;

/** Tells an engine that prints without an end. Busy or idle: reading it is work for the thread that serves everybody. */
export interface FloodMeter {
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
