import { createClient } from "@connectrpc/connect";
import {
  AnalysisService,
  type EvaluateBatchResponse,
  EvaluateBatchResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { createReorderBuffer } from "../calls/reorder-buffer.ts";
import { readPastedFen } from "../chess/pasted-fen.ts";
import { withoutControls } from "../text/plain-text.ts";
import { ask } from "./ask.ts";
import { askMany, printWait, type Wait } from "./ask-many.ts";
import { type CommandInput, exitCode, UsageError } from "./command.ts";
import type { Host, Output } from "./host.ts";
import { exitCodeOf } from "./print-error.ts";
import { createProgress } from "./progress.ts";
import { isSolved, type PositionLine, positionFromLine } from "./read-epd.ts";
import { knownCodeOf } from "./remote-error.ts";
import { readRequestOfMany } from "./request-from-input.ts";
import { plural } from "./style.ts";
import { readText } from "./text-of-bytes.ts";
import { whyNotOpened } from "./why-not-opened.ts";

/** Prints reports in the order of the file. With `--json`, prints each answer as soon as it arrives. */
export async function evaluateFile(file: string, input: CommandInput): Promise<number> {
  const { values, host, signal } = input;
  const template = readRequestOfMany(input);
  const positions = await readPositions(file, host);
  await using service = await ask(input, { stores: true });
  const client = createClient(AnalysisService, service.transport);
  const progress = createProgress(positions.length, host.stderr);
  const counts = { solved: 0, asked: 0, refused: 0, failed: 0 };
  const order = createReorderBuffer<string>();
  const onWait = (wait: Wait) => {
    progress.clear();
    printWait(wait, host.stderr);
  };
  const requests = positions.values().map(({ fen }) => ({ ...template, fen }));
  for await (const answer of askMany(requests, client, { signal, onWait })) {
    const { index } = answer;
    const position = positions[index] as NumberedPosition;
    const solved = solvedBy(answer, position);
    const problem = problemOf(answer);
    counts.refused += Number(problem === "refused");
    counts.failed += Number(problem === "failed");
    counts.asked += Number(solved !== undefined);
    counts.solved += Number(solved === true);
    const rows =
      values.json === true
        ? [lineOf(answer, position, solved)]
        : order(index, rowOf(answer, position, solved));
    progress.clear();
    host.stdout.write(rows.join(""));
    progress.step();
  }
  progress.clear();
  printTotals(host.stderr, positions.length, counts);
  // Exit with `failure` if a valid position was not evaluated, because a retry may succeed.
  return counts.failed > 0 ? exitCode.failure : counts.refused > 0 ? exitCode.usage : exitCode.ok;
}

const writeAnswer = createMessageWriter(EvaluateBatchResponseSchema);

function lineOf(
  answer: EvaluateBatchResponse,
  { line, id }: NumberedPosition,
  solved: boolean | undefined,
): string {
  const json = { ...JSON.parse(writeAnswer(answer)), line, epd_id: id ?? null, solved: solved ?? null };
  return `${withoutControls(JSON.stringify(json))}\n`;
}

function problemOf({ outcome }: EvaluateBatchResponse): "refused" | "failed" | undefined {
  if (outcome.case !== "problem") {
    return undefined;
  }
  return exitCodeOf({ code: knownCodeOf(outcome.value) }) === exitCode.usage ? "refused" : "failed";
}

/** The first line has the number 1. */
interface NumberedPosition extends PositionLine {
  readonly line: number;
}

async function readPositions(file: string, { stdin, stderr }: Host): Promise<readonly NumberedPosition[]> {
  const content = await readText(file, stdin).catch((error: Error) => {
    throw new UsageError(`cannot read ${file}: ${whyNotOpened(error)}`);
  });
  // Remove Ctrl-Z (U+001A), which marks the end of a file in DOS.
  const positions = content
    .replaceAll("\u001a", "")
    .split(/\r\n?|\n/)
    .flatMap((text, index) => {
      const pasted = readPastedFen(text, []);
      const fen = pasted?.moves ? undefined : pasted?.fen;
      if (fen !== undefined) {
        stderr.write(`kibitz: line ${index + 1} was read as ${fen}\n`);
      }
      const position = positionFromLine(fen ?? text);
      return position ? [{ ...position, line: index + 1 }] : [];
    });
  if (positions.length === 0) {
    throw new UsageError(
      `${file === "-" ? "standard input" : file} has no positions: write one FEN or EPD per line`,
    );
  }
  return positions;
}

function solvedBy({ outcome }: EvaluateBatchResponse, position: PositionLine): boolean | undefined {
  const { bestMove, score } = outcome.case === "result" ? outcome.value : {};
  const mate = score?.value.case === "mate" ? score.value.value : undefined;
  return bestMove && isSolved(position, { uci: bestMove.uci, mate });
}

function rowOf(
  answer: EvaluateBatchResponse,
  position: NumberedPosition,
  solved: boolean | undefined,
): string {
  const { outcome } = answer;
  const { line, id, fen } = position;
  const mark = solved === undefined ? " " : solved ? "✓" : "✗";
  const what = problemOf(answer) === "failed" ? "has failed" : "was refused";
  const found =
    outcome.case === "result" ? outcome.value.summary : `Line ${line} ${what}: ${outcome.value?.detail}`;
  const wanted = solved === false ? ` Wanted: ${wantedOf(position)}.` : "";
  const rows = [`${String(line).padStart(5)} ${mark} ${id ?? fen}`, `        ${found}${wanted}`];
  return rows.map((row) => `${withoutControls(row)}\n`).join("");
}

function wantedOf({ best, avoid }: PositionLine): string {
  return [...best, ...avoid.map((move) => `not ${move}`)].join(" or ");
}

function printTotals(
  stderr: Output,
  total: number,
  { solved, asked, refused, failed }: Readonly<Record<"solved" | "asked" | "refused" | "failed", number>>,
): void {
  const score = asked > 0 ? [`solved ${solved} of ${asked} (${((100 * solved) / asked).toFixed(1)} %)`] : [];
  const refusals = refused > 0 ? [`${refused} refused`] : [];
  const failures = failed > 0 ? [`${failed} failed`] : [];
  stderr.write(`kibitz: ${[plural(total, "position"), ...score, ...refusals, ...failures].join(", ")}\n`);
}
