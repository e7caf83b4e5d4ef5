import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { createClient } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  AnalysisService,
  type EvaluateBatchResponse,
  EvaluateBatchResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { createReorderBuffer } from "../calls/reorder-buffer.ts";
import { withoutControls } from "../text/plain-text.ts";
import { ask } from "./ask.ts";
import { askMany, printWait, type Wait } from "./ask-many.ts";
import { type CommandInput, exitCode, UsageError } from "./command.ts";
import type { Host, Output } from "./host.ts";
import { exitCodeOf } from "./print-error.ts";
import { createProgressBar } from "./progress-bar.ts";
import { isSolved, type PositionLine, positionFromLine } from "./read-epd.ts";
import { knownCodeOf } from "./remote-error.ts";
import { plural } from "./style.ts";
import { whyNotOpened } from "./why-not-opened.ts";

interface FileInput {
  /** A file's path, or `-` for standard input. */
  readonly file: string;
  /** The request for a position. */
  readonly requestOf: (fen: string) => AnalysisRequest;
  /** True for a line of JSON for each answer instead of a table. */
  readonly json: boolean;
  readonly input: CommandInput;
}

/**
 * Evaluates a file with one FEN or EPD per line, and checks the moves that EPD asks for. Rows are printed in the order of the file, lines of
 * JSON as soon as they are ready, with the number of their line.
 */
export async function evaluateFile({ file, requestOf, json, input }: FileInput): Promise<number> {
  const { host, signal } = input;
  const positions = await readPositions(file, host);
  await using service = await ask(input, { stores: true });
  const client = createClient(AnalysisService, service.transport);
  const write = createMessageWriter(EvaluateBatchResponseSchema);
  const bar = createProgressBar(positions.length, host.stderr);
  const tally = { solved: 0, asked: 0, refused: 0, failed: 0 };
  const order = createReorderBuffer<string>();
  const onWait = (wait: Wait) => {
    bar.clear();
    printWait(wait, host.stderr);
  };

  const requests = positions.map(({ fen }) => requestOf(fen));
  for await (const answer of askMany(requests, client, { signal, onWait })) {
    const { index } = answer;
    const position = positions[index] as NumberedPosition;
    const solved = solvedBy(answer, position);
    const problem = problemOf(answer);
    tally.refused += Number(problem === "refused");
    tally.failed += Number(problem === "failed");
    tally.asked += Number(solved !== undefined);
    tally.solved += Number(solved === true);
    const { line, id = null } = position;
    const plain = () => ({ ...JSON.parse(write(answer)), line, epd_id: id, solved: solved ?? null });
    const rows = json
      ? [`${withoutControls(JSON.stringify(plain()))}\n`]
      : order(index, rowOf(answer, position, solved));
    bar.clear();
    host.stdout.write(rows.join(""));
    bar.step();
  }
  bar.clear();
  printTotals(host.stderr, positions.length, tally);
  // A failed position is valid, and may be answered another time.
  return tally.failed > 0 ? exitCode.failure : tally.refused > 0 ? exitCode.usage : exitCode.ok;
}

/** Tells a position that was refused from a search that failed; undefined for a result. */
function problemOf({ outcome }: EvaluateBatchResponse): "refused" | "failed" | undefined {
  if (outcome.case !== "problem") {
    return undefined;
  }
  return exitCodeOf({ code: knownCodeOf(outcome.value) }) === exitCode.usage ? "refused" : "failed";
}

/** A position and the number of its line in the file, from 1 as editors count. */
interface NumberedPosition extends PositionLine {
  readonly line: number;
}

async function readPositions(file: string, { stdin }: Host): Promise<readonly NumberedPosition[]> {
  const content = await (file === "-" ? text(stdin) : readFile(file, "utf8")).catch((error: Error) => {
    throw new UsageError(`cannot read ${file}: ${whyNotOpened(error)}`);
  });
  const positions = content.split("\n").flatMap((text, index) => {
    const position = positionFromLine(text);
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
  const best = outcome.case === "result" ? outcome.value.bestMove : undefined;
  return best && isSolved(position, best);
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

/** Prints the totals to standard error: standard output has answers only. */
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
