import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import {
  AnalysisService,
  type EvaluateResponse,
  EvaluateResponseSchema,
  FindBestMoveResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { withoutControls } from "../text/controls.ts";
import { ask } from "./ask.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { evaluateFile } from "./evaluate-file.ts";
import { withGreatestLimit } from "./greatest-limit.ts";
import { orPrintError } from "./print-error.ts";
import { createStatusLine } from "./progress.ts";
import { remoteOptions } from "./remote-address.ts";
import { progressOf, type Report, reportOfBestMove, reportOfEvaluation } from "./report.ts";
import { requestFromInput, searchOptions } from "./request-from-input.ts";
import { columnsOf } from "./style.ts";

interface Kind {
  json(answer: EvaluateResponse): string;
  readonly report: Report;
}

const evaluation: Kind = {
  json: createMessageWriter(EvaluateResponseSchema),
  report: reportOfEvaluation,
};

const writeBestMove = createMessageWriter(FindBestMoveResponseSchema);

/** `kibitz bestmove` calls `StreamEvaluate` instead of `FindBestMove`, because a stream can report progress. */
const bestMove: Kind = {
  json: ({ $typeName: _, ...answer }) => writeBestMove(create(FindBestMoveResponseSchema, answer)),
  report: reportOfBestMove,
};

const notes = [
  "On a terminal, progress is shown while the search deepens. Scores are from White's point of view.",
  "With --url, a running service answers instead, over Connect.",
];

export const evalCommand: Command = {
  usage: "eval <fen>",
  about: "Evaluate a position: score, best move and principal variations.",
  options: {
    ...searchOptions,
    file: {
      type: "string",
      short: "f",
      value: "<file>",
      about: "evaluate a file with one FEN or EPD per line instead, at most 500000; - for standard input",
    },
    ...remoteOptions,
  },
  notes: [
    ...notes,
    "With --file, the EPD operations bm and am are checked, and the number solved is reported. `bm #3` and `dm 3` ask for a mate in at most 3 moves.",
    "Answers are printed in file order; with --json, each is printed as soon as it is ready, with its `line`.",
  ],
  async run(input) {
    const { file } = input.values;
    if (typeof file !== "string") {
      return analyse(input, evaluation);
    }
    if (input.positionals.length > 0) {
      throw new UsageError("give either a FEN or --file");
    }
    return orPrintError(input, () => evaluateFile(file, input));
  },
};

export const bestmoveCommand: Command = {
  usage: "bestmove <fen>",
  about: "Find the best move of a position.",
  options: { ...searchOptions, ...remoteOptions },
  notes,
  run: (input) => analyse(input, bestMove),
};

async function analyse(input: CommandInput, kind: Kind): Promise<number> {
  const { values, signal, host } = input;
  const progress = createStatusLine(host.stderr);
  const sent = requestFromInput(input);
  return orPrintError(input, async () => {
    await using service = await ask(input);
    let answer: EvaluateResponse | undefined;
    const print = (found: EvaluateResponse) => {
      progress.clear();
      host.stdout.write(
        values.json ? `${withoutControls(kind.json(found))}\n` : kind.report(found, columnsOf(host)),
      );
    };
    try {
      const request = await withGreatestLimit(await service.read(sent), service, input);
      const { streamEvaluate } = createClient(AnalysisService, service.transport);
      for await (const state of streamEvaluate(request, { signal })) {
        progress.show(progressOf(state.event));
        answer = state.event.case === "evaluation" ? state.event.value : answer;
      }
      if (answer === undefined) {
        throw new Error("the search ended without an answer");
      }
      print(answer);
      return exitCode.ok;
    } catch (thrown) {
      if (signal.aborted && answer !== undefined) {
        print(answer);
        return exitCode.interrupted;
      }
      throw thrown;
    } finally {
      progress.clear();
    }
  });
}
