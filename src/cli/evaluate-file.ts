import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { create } from "@bufbuild/protobuf";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  AnalysisService,
  type EvaluateBatchResponse,
  EvaluateBatchResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageWriter } from "../protocols/json/codec/write-message.ts";
import { createReorderBuffer } from "../protocols/json/streams.ts";
import { localContext } from "../request/context.ts";
import { exitCode, UsageError } from "./command.ts";
import type { Host, Output } from "./host.ts";
import { openLocal } from "./open-local.ts";
import { createProgressBar } from "./progress-bar.ts";
import { isSolved, type PositionLine, positionFromLine } from "./read-epd.ts";

export interface FileInput {
  /** A file's path, or `-` for standard input. */
  readonly file: string;
  /** What is asked of every position. */
  readonly requestOf: (fen: string) => AnalysisRequest;
  /** One line of JSON for each answer instead of a table. */
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly host: Host;
}

/** A batch takes so many. */
const batchMax = 200;

const method = AnalysisService.method.evaluateBatch;

/**
 * Evaluates a file of positions, a FEN or EPD a line, and the score where EPD asks for moves. Rows come in the order of
 * the file; lines of JSON come as they are ready, and name the line that they are of.
 */
export async function evaluateFile({ file, requestOf, json, signal, host }: FileInput): Promise<number> {
  const positions = await readPositions(file, host);
  await using local = await openLocal(host, signal);
  const call = local.calls.stream(method);
  const write = createMessageWriter(EvaluateBatchResponseSchema);
  const bar = createProgressBar(positions.length, host.stderr);
  const tally = { solved: 0, asked: 0, refused: 0 };
  const order = createReorderBuffer<string>();

  for (let first = 0; first < positions.length; first += batchMax) {
    const batch = positions.slice(first, first + batchMax);
    const sent = create(method.input, { requests: batch.map(({ fen }) => requestOf(fen)) });
    for await (const message of call(sent, { request: localContext(), signal })) {
      const answer = message as EvaluateBatchResponse;
      const index = first + answer.index;
      const position = positions[index] as NumberedPosition;
      const solved = solvedBy(answer, position);
      tally.refused += Number(answer.outcome.case === "problem");
      tally.asked += Number(solved !== undefined);
      tally.solved += Number(solved === true);
      const { line, id = null } = position;
      const rows = json
        ? [
            `${JSON.stringify({ ...JSON.parse(write(answer)), index, line, epd_id: id, solved: solved ?? null })}\n`,
          ]
        : order(index, rowOf(answer, position, solved));
      bar.clear();
      host.stdout.write(rows.join(""));
      bar.step();
    }
  }
  bar.clear();
  tell(host.stderr, positions.length, tally);
  return tally.refused > 0 ? exitCode.usage : exitCode.ok;
}

/** A position and the number of its line in the file, from 1 as editors count. */
interface NumberedPosition extends PositionLine {
  readonly line: number;
}

async function readPositions(file: string, { stdin }: Host): Promise<readonly NumberedPosition[]> {
  const content = await (file === "-" ? text(stdin) : readFile(file, "utf8")).catch((error: Error) => {
    throw new UsageError(`cannot read ${file}: ${error.message}`);
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
  { outcome }: EvaluateBatchResponse,
  position: NumberedPosition,
  solved: boolean | undefined,
): string {
  const { line, id, fen } = position;
  const mark = solved === undefined ? " " : solved ? "✓" : "✗";
  const found =
    outcome.case === "result" ? outcome.value.summary : `Line ${line} was refused: ${outcome.value?.detail}`;
  const wanted = solved === false ? ` Wanted: ${wantedOf(position)}.` : "";
  return `${String(line).padStart(5)} ${mark} ${id ?? fen}\n        ${found}${wanted}\n`;
}

function wantedOf({ best, avoid }: PositionLine): string {
  return [...best, ...avoid.map((move) => `not ${move}`)].join(" or ");
}

/** The score, on the error stream: what is piped on is answers only. */
function tell(
  stderr: Output,
  total: number,
  { solved, asked, refused }: { solved: number; asked: number; refused: number },
): void {
  const score = asked > 0 ? [`solved ${solved} of ${asked} (${((100 * solved) / asked).toFixed(1)} %)`] : [];
  const refusals = refused > 0 ? [`${refused} refused`] : [];
  stderr.write(`kibitz: ${[`${total} positions`, ...score, ...refusals].join(", ")}\n`);
}
