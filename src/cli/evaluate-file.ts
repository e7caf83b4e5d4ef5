import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import {
  AnalysisService,
  type EvaluateBatchResponse,
  EvaluateBatchResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { engineVersionDiffers } from "../analysis/analysis.ts";
import { problemMessage } from "../calls/convert-problem.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { createReorderBuffer } from "../calls/reorder-buffer.ts";
import { isOfRights } from "../chess/is-of-rights.ts";
import { readPastedFen } from "../chess/pasted-fen.ts";
import { KibitzError } from "../errors/errors.ts";
import { withoutControls } from "../text/controls.ts";
import { echo } from "../text/echo.ts";
import { ask } from "./ask.ts";
import { askMany, printWait, type Wait } from "./ask-many.ts";
import { type CommandInput, exitCode, UsageError } from "./command.ts";
import { withGreatestLimit } from "./greatest-limit.ts";
import type { Host, Output } from "./host.ts";
import { linesOfFile } from "./lines-of-file.ts";
import { exitCodeOf } from "./print-error.ts";
import { createProgress } from "./progress.ts";
import { illegalOperandOf, isSolved, type PositionLine, positionFromLine } from "./read-epd.ts";
import { knownCodeOf } from "./remote-error.ts";
import { readRequestOfMany } from "./request-from-input.ts";
import { plural } from "./style.ts";
import { whyNotOpened } from "./why-not-opened.ts";

/** Prints reports in the order of the file. With `--json`, prints each answer as soon as it arrives. */
export async function evaluateFile(file: string, input: CommandInput): Promise<number> {
  const { values, host, signal } = input;
  const options = readRequestOfMany(input);
  const positions = await readPositions(file, host);
  await using service = await ask(input, { stores: true });
  const template = await withGreatestLimit(options, service, input);
  const client = createClient(AnalysisService, service.transport);
  const progress = createProgress(positions.length, host.stderr);
  const counts = { solved: 0, asked: 0, refused: 0, failed: 0 };
  const order = createReorderBuffer<string>();
  const notes = new Set<string>();
  const onWait = (wait: Wait) => {
    progress.clear();
    printWait(wait, host.stderr);
  };
  const print = (answer: EvaluateBatchResponse, position: NumberedPosition, solved?: boolean) => {
    const rows =
      values.json === true
        ? [lineOf(answer, position, solved)]
        : order(position.index, rowOf(answer, position, solved));
    progress.clear();
    host.stdout.write(rows.join(""));
    progress.step();
  };
  const [wrong, valid] = partition(positions);
  for (const { position, problem } of wrong) {
    counts.refused++;
    print(answerOf(position, problem), position);
  }
  const requests = valid.values().map(({ fen }) => ({ ...template, fen }));
  for await (const found of askMany(requests, client, { signal, onWait })) {
    const position = valid[found.index] as NumberedPosition;
    const answer = { ...found, index: position.index };
    const solved = solvedBy(answer, position);
    const problem = problemOf(answer);
    counts.refused += Number(problem === "refused");
    counts.failed += Number(problem === "failed");
    counts.asked += Number(solved !== undefined);
    counts.solved += Number(solved === true);
    print(answer, position, solved);
    settingsNotesOf(answer).forEach((note) => void notes.add(note));
  }
  progress.clear();
  host.stderr.write([...notes].map((note) => `kibitz: ${withoutControls(note)}\n`).join(""));
  printTotals(host.stderr, positions.length, counts);
  // Exit with `failure` if a valid position was not evaluated, because a retry may succeed.
  return counts.failed > 0 ? exitCode.failure : counts.refused > 0 ? exitCode.usage : exitCode.ok;
}

/** Returns the warnings about the settings, which are the same for all positions. */
function settingsNotesOf({ outcome }: EvaluateBatchResponse): readonly string[] {
  const warnings = outcome.case === "result" ? outcome.value.warnings : [];
  return warnings
    .filter(({ code }) => code === engineVersionDiffers || /^default_\w+_applied$/.test(code))
    .map(({ message }) => message);
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

/** The first line has the number 1, and the first position has the index 0. */
interface NumberedPosition extends PositionLine {
  readonly line: number;
  readonly index: number;
}

/** Separates the positions whose wanted or avoided moves are not legal: no engine could solve them. */
function partition(positions: readonly NumberedPosition[]) {
  const wrong: { readonly position: NumberedPosition; readonly problem: KibitzError }[] = [];
  const valid: NumberedPosition[] = [];
  for (const position of positions) {
    const move = illegalOperandOf(position);
    if (move === undefined) {
      valid.push(position);
      continue;
    }
    const operation = position.best.includes(move) ? "bm" : "am";
    const detail = `The operation ${operation} names ${echo(move, "'")}, which is not one legal move in this position.`;
    wrong.push({ position, problem: new KibitzError("illegal_move", detail) });
  }
  return [wrong, valid] as const;
}

function answerOf({ index }: NumberedPosition, error: KibitzError): EvaluateBatchResponse {
  const value = problemMessage(error, crypto.randomUUID());
  return create(EvaluateBatchResponseSchema, { index, outcome: { case: "problem", value } });
}

/** The most positions of one file. All of them are held in memory, and their searches take days. */
const positionsMax = 500_000;

async function readPositions(file: string, { stdin, stderr }: Host): Promise<readonly NumberedPosition[]> {
  const positions: NumberedPosition[] = [];
  let line = 0;
  try {
    for await (const written of linesOfFile(file, stdin)) {
      line++;
      // Remove Ctrl-Z (U+001A), which marks the end of a file in DOS.
      const text = written.replaceAll("\u001a", "");
      const pasted = readPastedFen(text, []);
      const fen = pasted?.moves ? undefined : pasted?.fen;
      if (fen !== undefined) {
        stderr.write(`kibitz: line ${line} was read as ${withoutControls(fen)}\n`);
      }
      const position = positionFromLine(fen ?? text);
      if (position !== undefined && positions.length === positionsMax) {
        throw new Error(`it has more than ${positionsMax} positions; split the file`);
      }
      positions.push(...(position ? [{ ...position, line, index: positions.length }] : []));
    }
  } catch (thrown) {
    throw new UsageError(`cannot read ${file}: ${whyNotOpened(thrown as Error)}`);
  }
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
  const warnings = outcome.case === "result" ? outcome.value.warnings.filter(isOfRights) : [];
  const rows = [
    `${String(line).padStart(5)} ${mark} ${id ?? fen}`,
    `        ${found}${wanted}`,
    ...warnings.map(({ message }) => `        Note: ${message}`),
  ];
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
