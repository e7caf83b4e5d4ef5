import { Bound, Path, type Score, StopReason } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import type {
  EvaluateResponse,
  StreamEvaluateResponse,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Output } from "./host.ts";

/** The evaluation for people: the summary, a row for each line, and how it was found. */
export function reportOfEvaluation(answer: EvaluateResponse): string {
  const { lines, summary } = answer;
  const rows = lines.map(({ score, san }) => {
    const percent = `${score?.winPercent.toFixed(1)} %`;
    return `  ${pawnsOf(score).padStart(7)}  ${percent.padStart(7)}  ${san.join(" ")}`;
  });
  return text([summary, ...(rows.length > 0 ? ["", ...rows] : []), ...footer(answer)]);
}

/** The best move for people, in both notations. */
export function reportOfBestMove(answer: EvaluateResponse): string {
  const { bestMove, ponder, score, summary } = answer;
  if (bestMove === undefined) {
    return text([summary]);
  }
  const reply = ponder ? `, expecting ${ponder.san}` : "";
  return text([`${bestMove.san} (${bestMove.uci}), ${pawnsOf(score)}${reply}`, ...footer(answer)]);
}

/** `+0.35`, `-1.20`, `#3`, `#-3`; `≥` and `≤` before a bound. */
function pawnsOf(score: Score | undefined): string {
  if (score?.value.case === undefined) {
    return "–";
  }
  const { value, bound } = score;
  const limit = bound === Bound.LOWER ? "≥" : bound === Bound.UPPER ? "≤" : "";
  if (value.case === "mate") {
    return `${limit}#${value.value}`;
  }
  return `${limit}${value.value > 0 ? "+" : ""}${(value.value / 100).toFixed(2)}`;
}

/** `752k`: large counts, short. */
export function countOf(count: number): string {
  return new Intl.NumberFormat("en", { notation: "compact" }).format(count);
}

function footer({ engine, search, warnings }: EvaluateResponse): readonly string[] {
  const how = [];
  if (engine && search) {
    const { depth, stopReason = StopReason.UNSPECIFIED, nodes, timeMs } = search;
    const stopped = stopReason === StopReason.DEPTH ? "" : `, stopped by ${wordOf(StopReason, stopReason)}`;
    const path = wordOf(Path, engine.path);
    how.push(
      `${engine.name} (${path}), depth ${depth}${stopped}, ${countOf(Number(nodes))} nodes in ${timeMs} ms`,
    );
  }
  return ["", ...how, ...warnings.map(({ message }) => `Note: ${message}`)];
}

/** As plain JSON writes it: `server_limit`. A newer service may have values that this version has no word for. */
export function wordOf(values: Readonly<Record<string, number>>, value: number): string {
  const name = Object.keys(values).find((name) => values[name] === value);
  return name?.toLowerCase() ?? String(value);
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n").trimEnd()}\n`;
}

/** One line that is written over while the search deepens; nothing where nobody looks. */
export interface Progress {
  show(state: StreamEvaluateResponse): void;
  clear(): void;
}

export function createProgress(stream: Output): Progress {
  if (!stream.isTTY) {
    return { show() {}, clear() {} };
  }
  const write = (text: string) => stream.write(`\r\x1b[K${text}`);
  return {
    show({ event }) {
      const text = progressOf(event);
      if (text !== undefined) {
        write(text.slice(0, Math.max(20, (stream.columns || 80) - 1)));
      }
    },
    clear: () => write(""),
  };
}

/** Nothing for events that this version does not know. */
function progressOf({ case: kind, value }: StreamEvaluateResponse["event"]): string | undefined {
  switch (kind) {
    case "queued":
      return `waits for an engine: place ${value.place}, about ${Math.ceil(value.expectedWaitMs / 1000)} s`;
    case "evaluation": {
      const { search, score, lines } = value;
      const moves = lines[0]?.san.slice(0, 8).join(" ") ?? "";
      const nodes = countOf(Number(search?.nodes ?? 0));
      return `depth ${String(search?.depth).padStart(2)}  ${pawnsOf(score)}  ${moves}  ${nodes} nodes`;
    }
    default:
      return undefined;
  }
}
