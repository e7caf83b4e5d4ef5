import type { Analysis } from "../analysis/analysis.ts";
import type { Output } from "./host.ts";
import { countOf, pawnsOf } from "./report.ts";

/** One line that is written over while the search deepens; nothing where nobody looks. */
export interface Progress {
  show(state: Analysis): void;
  clear(): void;
}

export function createProgress(stream: Output): Progress {
  if (!stream.isTTY) {
    return { show() {}, clear() {} };
  }
  const write = (text: string) => stream.write(`\r\x1b[K${text}`);
  return {
    show({ depth, score, lines, counters }) {
      const moves = lines[0]?.san.slice(0, 8).join(" ") ?? "";
      const text = `depth ${String(depth).padStart(2)}  ${pawnsOf(score)}  ${moves}  ${countOf(counters.nodes)} nodes`;
      write(text.slice(0, Math.max(20, (stream.columns || 80) - 1)));
    },
    clear: () => write(""),
  };
}
