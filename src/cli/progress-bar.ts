import type { Output } from "./host.ts";

/** A progress bar on one line of a terminal; nothing if the stream is no terminal. */
interface ProgressBar {
  step(): void;
  /** Clears the line. The next step draws it again. */
  clear(): void;
}

const widthChars = 30;
const usualColumns = 80;

/** @param what title before the bar */
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
      // A line that is wider than the terminal would wrap, and could not be cleared.
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
