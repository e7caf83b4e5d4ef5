import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import {
  EvaluateResponseSchema,
  FindBestMoveResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { judgeRequest } from "../analysis/judge-request.ts";
import { messageFromAnalysis, requestFromMessage } from "../calls/convert.ts";
import { withSuggestion } from "../calls/suggest.ts";
import { KibitzError } from "../errors/errors.ts";
import { createMessageWriter } from "../protocols/json/codec/write-message.ts";
import type { Service } from "../wiring/service.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { evaluateFile } from "./evaluate-file.ts";
import { openLocal } from "./open-local.ts";
import { createProgress, reportOfBestMove, reportOfEvaluation } from "./report.ts";
import { readRequest, readRequestOfMany, requestFromInput, searchOptions } from "./request-from-input.ts";
import { orTellError } from "./tell-error.ts";

const notes = [
  "On a terminal, progress is shown while the search deepens. Scores are from White's point of view.",
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
      about: "evaluate a file with one FEN or EPD per line instead; - for standard input",
    },
  },
  notes: [
    ...notes,
    "With --file, the EPD operations bm and am are checked, and the number solved is reported.",
    "Answers are printed in file order; with --json, each is printed as soon as it is ready, with its `line`.",
  ],
  async run(input) {
    const { file, json } = input.values;
    if (typeof file !== "string") {
      return analyse(input, EvaluateResponseSchema, reportOfEvaluation);
    }
    if (input.positionals.length > 0) {
      throw new UsageError("give either a FEN or --file");
    }
    return orTellError(input, () => {
      const asked = readRequestOfMany(input);
      const requestOf = (fen: string) => ({ ...asked, fen });
      return evaluateFile({ file, requestOf, json: json === true, signal: input.signal, host: input.host });
    });
  },
};

export const bestmoveCommand: Command = {
  usage: "bestmove <fen>",
  about: "Find the best move of a position.",
  options: searchOptions,
  notes,
  run: (input) => analyse(input, FindBestMoveResponseSchema, reportOfBestMove),
};

async function analyse(
  input: CommandInput,
  answerSchema: DescMessage,
  report: (analysis: Analysis) => string,
): Promise<number> {
  const { values, signal, host } = input;
  const progress = createProgress(host.stderr);
  const sent = requestFromInput(input);
  return orTellError(input, async () => {
    await using opened = new AsyncDisposableStack();
    let opening: Promise<Service> | undefined;
    /** When they are needed: what can be refused without engines is refused at once. */
    const local = () => {
      opening ??= openLocal(host, signal).then((service) => opened.use(service));
      return opening;
    };
    const judge = async (plain: typeof sent) => {
      const asked = requestFromMessage(readRequest(plain));
      return judgeRequest(asked, (await local()).engines);
    };
    try {
      const request = await judge(sent);
      const { analyzer } = await local();
      let last: Analysis | undefined;
      for await (const state of analyzer.watch(request, "cli", signal)) {
        progress.show(state);
        last = state;
      }
      if (last === undefined) {
        throw new Error("the search ended without an answer");
      }
      progress.clear();
      host.stdout.write(
        values.json ? jsonOf(answerSchema, create(answerSchema, messageFromAnalysis(last))) : report(last),
      );
      return exitCode.ok;
    } catch (thrown) {
      throw thrown instanceof KibitzError ? await withSuggestion(thrown, sent, judge) : thrown;
    } finally {
      progress.clear();
    }
  });
}

function jsonOf(schema: DescMessage, message: Message): string {
  return `${createMessageWriter(schema)(message)}\n`;
}
