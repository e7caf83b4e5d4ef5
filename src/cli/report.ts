import type { Analysis } from "../analysis/analysis.ts";
import { type Score, summarize, winPercent } from "../chess/score.ts";
import type { Output } from "./host.ts";

/** The evaluation for people: the summary, a row for each line, and how it was found. */
export function reportOfEvaluation(analysis: Analysis): string {
  const { lines } = analysis;
  const rows = lines.map(({ score, san }) => {
    const percent = `${winPercent(score).toFixed(1)} %`;
    return `  ${pawnsOf(score).padStart(7)}  ${percent.padStart(7)}  ${san.join(" ")}`;
  });
  return text([summaryOf(analysis), ...(rows.length > 0 ? ["", ...rows] : []), ...footer(analysis)]);
}

/** The best move for people, in both notations. */
export function reportOfBestMove(analysis: Analysis): string {
  const { best, ponder, score } = analysis;
  if (best === undefined) {
    return text([summaryOf(analysis)]);
  }
  const reply = ponder ? `, expecting ${ponder.san}` : "";
  return text([`${best.san} (${best.uci}), ${pawnsOf(score)}${reply}`, ...footer(analysis)]);
}

/** `+0.35`, `-1.20`, `#3`, `#-3`; `≥` and `≤` before a bound. */
export function pawnsOf({ value, bound }: Score): string {
  const limit = { exact: "", lower: "≥", upper: "≤" }[bound];
  if (value.kind === "mate") {
    return `${limit}#${value.mate}`;
  }
  return `${limit}${value.cp > 0 ? "+" : ""}${(value.cp / 100).toFixed(2)}`;
}

/** `752k`: large counts, short. */
export function countOf(count: number): string {
  return new Intl.NumberFormat("en", { notation: "compact" }).format(count);
}

function summaryOf({ request, score, best }: Analysis): string {
  const { terminal, turn } = request.position;
  return summarize({ score, bestMoveSan: best?.san, terminal, turn });
}

function footer({ request, depth, counters, warnings, stopReason }: Analysis): readonly string[] {
  const { build } = request;
  const stopped = stopReason === "depth" ? "" : `, stopped by ${stopReason}`;
  const how = `${build.name} (${build.path}), depth ${depth}${stopped}, ${countOf(counters.nodes)} nodes in ${counters.timeMs} ms`;
  return [
    "",
    ...(stopReason === "terminal" ? [] : [how]),
    ...warnings.map(({ message }) => `Note: ${message}`),
  ];
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n").trimEnd()}\n`;
}

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
