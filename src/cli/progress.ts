import { withoutControls } from "../text/controls.ts";
import { now } from "../time/time.ts";
import type { Output } from "./host.ts";

/** A line of the terminal that is overwritten many times. Writes nothing if the stream is not a terminal. */
interface StatusLine {
  show(text: string): void;
  clear(): void;
}

export function createStatusLine(stream: Output): StatusLine {
  const write = (text: string) => void (stream.isTTY && stream.write(`\r\x1b[K${text}`));
  return {
    // Shorten the line, because a line that wraps cannot be cleared.
    show: (text) => write(withoutControls(text).slice(0, (stream.columns || 80) - 1)),
    clear: () => write(""),
  };
}

export function createProgress(total: number, stream: Output, title = "") {
  const { show, clear } = createStatusLine(stream);
  const startedAt = now();
  let done = 0;
  return {
    step() {
      done++;
      const leftS = Math.ceil(((now() - startedAt) / done) * (total - done) * 1e-3);
      show(`${done} of ${total}, ${leftS} s left ${title}`);
    },
    clear,
  };
}
