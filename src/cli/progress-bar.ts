import type { Output } from "./host.ts";

/** How much of a long work is done, on one line that is written over; nothing where nobody looks. */
interface ProgressBar {
  step(): void;
  /** Takes the line away, for a moment or for good. */
  clear(): void;
}

const widthChars = 30;
const usualColumns = 80;

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
      const leftS = Math.ceil(((performance.now() - startedAt) / done) * (total - done) * 1e-3);
      const figures = ` ${done} of ${total}, ${leftS} s left`;
      // One that is wider than the terminal would stand there for good.
      const room = (stream.columns || usualColumns) - 1;
      const title = what.slice(0, Math.max(0, room - figures.length));
      const width = Math.max(0, Math.min(widthChars, room - title.length - figures.length));
      const bar = "█".repeat(Math.round((done / total) * width)).padEnd(width, "░");
      stream.write(`\r\x1b[K${`${title}${bar}${figures}`.slice(0, room)}`);
    },
    clear() {
      if (stream.isTTY) {
        stream.write("\r\x1b[K");
      }
    },
  };
}
