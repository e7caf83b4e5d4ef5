import type { Output } from "./host.ts";

/** How much of a long work is done, on one line that is written over; nothing where nobody looks. */
export interface ProgressBar {
  step(): void;
  /** Takes the line away, for a moment or for good. */
  clear(): void;
}

const widthChars = 30;

/** @param what is being done, before the bar */
export function createProgressBar(total: number, stream: Output, what = ""): ProgressBar {
  const startedAt = performance.now();
  let done = 0;
  return {
    step() {
      done++;
      if (!stream.isTTY) {
        return;
      }
      const filled = Math.round((done / total) * widthChars);
      const leftS = Math.ceil(((performance.now() - startedAt) / done) * (total - done) * 1e-3);
      const bar = "█".repeat(filled).padEnd(widthChars, "░");
      stream.write(`\r\x1b[K${what}${bar} ${done} of ${total}, ${leftS} s left`);
    },
    clear() {
      if (stream.isTTY) {
        stream.write("\r\x1b[K");
      }
    },
  };
}
