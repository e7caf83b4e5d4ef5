import {
  Color,
  Path,
  type Score,
  StopReason,
  type Tablebase,
  TablebaseCategory,
} from "../../gen/chess/analysis/v1/analysis_pb.ts";
import type {
  EvaluateResponse,
  StreamEvaluateResponse,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { type ScoreValue, signedPawns, tablebaseText } from "../chess/score.ts";
import { withoutControls } from "../text/controls.ts";
import { numbered } from "../text/numbered-moves.ts";
import { scoreFromMessage } from "./score-from-message.ts";
import { wrapped } from "./style.ts";

/** `columns` is the maximum line length in characters. Undefined means no limit. */
export type Report = (answer: EvaluateResponse, columns: number | undefined) => string;

export const reportOfEvaluation: Report = (answer, columns) => {
  const { lines, summary, fen } = answer;
  const rows = lines.flatMap(({ score, san }) => {
    const percent = `${score?.winPercent.toFixed(1)} %`;
    const start = `  ${pawnsOf(score).padStart(7)}  ${percent.padStart(7)}  `;
    return wrapped(start + numbered(fen, san), columns ?? Number.POSITIVE_INFINITY, start.length);
  });
  return text([summary, ...(rows.length > 0 ? ["", ...rows] : []), ...footer(answer)], columns);
};

export const reportOfBestMove: Report = (answer, columns) => {
  const { bestMove, ponder, score, summary, fen } = answer;
  if (bestMove === undefined) {
    return text([summary], columns);
  }
  const reply = ponder ? `, expecting ${numbered(bestMove.fenAfter, [ponder.san])}` : "";
  const move = `${numbered(fen, [bestMove.san])} (${bestMove.uci}), ${pawnsOf(score)}${reply}`;
  return text([move, ...footer(answer)], columns);
};

const limits = { exact: "", lower: "≥", upper: "≤" } as const;

/** Writes `≥` or `≤` before a score that is only a bound. */
function pawnsOf(message: Score | undefined): string {
  if (message?.value.case === undefined) {
    return "–";
  }
  const { value, bound } = scoreFromMessage(message);
  return limits[bound] + textOfValue(value);
}

/** Examples from White's point of view: `+0.35`, `-1.20`, `#3` (White mates in 3 moves), `#-3` (Black mates in 3 moves). */
export function textOfValue(value: ScoreValue): string {
  return value.kind === "mate" ? `#${value.mate}` : signedPawns(value.cp);
}

/** Examples: `White wins (tablebase)`, `Draw by the fifty-move rule (tablebase)`. */
export function resultOf({ category, winner }: Tablebase): string {
  return tablebaseText({
    category: wordOf(TablebaseCategory, category),
    winner: winner === Color.WHITE ? "white" : winner === Color.BLACK ? "black" : undefined,
  });
}

export function countOf(count: number): string {
  return new Intl.NumberFormat("en", { notation: "compact" }).format(count);
}

function footer({ engine, search, warnings, tablebase }: EvaluateResponse): readonly string[] {
  const how = [];
  if (tablebase) {
    const { dtzPlies: plies } = tablebase;
    const distance =
      plies === undefined ? "" : `, about ${plies} plies to the next capture, pawn move or mate`;
    how.push(`${resultOf(tablebase)}${distance}`);
  }
  if (engine && search) {
    const { depth, stopReason, nodes, timeMs } = search;
    const stopped = endOf(stopReason);
    const path = wordOf(Path, engine.path);
    how.push(
      `${engine.name} (${path}), depth ${depth}${stopped}, ${countOf(Number(nodes))} nodes in ${timeMs} ms`,
    );
  }
  return ["", ...how, ...warnings.map(({ message }) => `Note: ${message}`)];
}

function endOf(reason: StopReason | undefined): string {
  if (reason === undefined) {
    return ", interrupted";
  }
  return reason === StopReason.DEPTH ? "" : `, stopped by ${wordOf(StopReason, reason)}`;
}

/** Returns the JSON name of an enum value, such as `server_limit`, or the number of an unknown value. */
export function wordOf(values: Readonly<Record<string, number>>, value: number): string {
  const name = Object.keys(values).find((name) => values[name] === value);
  return name?.toLowerCase() ?? String(value);
}

function text(lines: readonly string[], columns = Number.POSITIVE_INFINITY): string {
  return `${lines
    .flatMap((line) => wrapped(withoutControls(line), columns))
    .join("\n")
    .trimEnd()}\n`;
}

/** Returns an empty text for an event of an unknown kind. */
export function progressOf({ case: kind, value }: StreamEvaluateResponse["event"]): string {
  switch (kind) {
    case "queued":
      return `waits for an engine: place ${value.place}, about ${Math.ceil(value.expectedWaitMs / 1000)} s`;
    case "evaluation": {
      const { search, score, lines } = value;
      const moves = numbered(value.fen, lines[0]?.san.slice(0, 8) ?? []);
      const nodes = countOf(Number(search?.nodes ?? 0));
      return `depth ${String(search?.depth).padStart(2)}  ${pawnsOf(score)}  ${moves}  ${nodes} nodes`;
    }
    default:
      return "";
  }
}
