import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type AnalysisRequest, AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  EvaluateResponseSchema,
  FindBestMoveResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { type Analysis, requestBounds } from "../analysis/analysis.ts";
import { judgeRequest } from "../analysis/judge-request.ts";
import { messageFromAnalysis, requestFromMessage } from "../calls/convert.ts";
import { createRules } from "../calls/rules.ts";
import { withSuggestion } from "../calls/suggest.ts";
import { errorKind } from "../errors/catalogue.ts";
import { errorFromFaults, KibitzError } from "../errors/errors.ts";
import { problemFromError } from "../errors/problem.ts";
import { createMessageReader } from "../protocols/json/codec/read-message.ts";
import { createMessageWriter } from "../protocols/json/codec/write-message.ts";
import type { Service } from "../wiring/service.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { evaluateFile } from "./evaluate-file.ts";
import { openLocal } from "./open-local.ts";
import { createProgress, reportOfBestMove, reportOfEvaluation } from "./report.ts";

const range = ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }) =>
  `${minimum} to ${maximum}`;

const options = {
  depth: {
    type: "string",
    short: "d",
    value: "<plies>",
    about: `search depth, ${range(requestBounds.depth)} (default ${requestBounds.depth.default})`,
  },
  nodes: {
    type: "string",
    value: "<count>",
    about: `positions to visit, ${range(requestBounds.nodes)}; alone, without a depth`,
  },
  multipv: {
    type: "string",
    short: "n",
    value: "<lines>",
    about: `principal variations, ${range(requestBounds.multipv)} (default ${requestBounds.multipv.default})`,
  },
  movetime: {
    type: "string",
    short: "t",
    value: "<ms>",
    about: `longest search, ${range(requestBounds.movetimeMs)}`,
  },
  moves: { type: "string", short: "m", value: "<moves>", about: 'moves played from the FEN: "e4 e5 Nf3"' },
  "search-moves": { type: "string", value: "<moves>", about: 'search only these moves: "e4 d4"' },
  engine: {
    type: "string",
    short: "e",
    value: "<id>",
    about: "an id listed by kibitz engines (default latest)",
  },
  path: { type: "string", short: "p", value: "<path>", about: "auto, wasm or native (default auto)" },
  option: {
    type: "string",
    short: "o",
    multiple: true,
    value: "<name=value>",
    about: "engine option, such as skill_level=5",
  },
  json: { type: "boolean", about: "print the API's answer, or the problem, as one line of JSON" },
} as const satisfies Command["options"];

/** Stands for the positions of a file while what is asked of all of them is judged. */
const anyFen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";

const notes = [
  "On a terminal, progress is shown while the search deepens. Scores are from White's point of view.",
];

export const evalCommand: Command = {
  usage: "eval <fen>",
  about: "Evaluate a position: score, best move and principal variations.",
  options: {
    ...options,
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
      // What is asked of all is judged once; what is wrong with a position is told in its own answer.
      const asked = readRequest(requestFromInput({ ...input, positionals: [anyFen] }));
      const requestOf = (fen: string) => ({ ...asked, fen });
      return evaluateFile({ file, requestOf, json: json === true, signal: input.signal, host: input.host });
    });
  },
};

export const bestmoveCommand: Command = {
  usage: "bestmove <fen>",
  about: "Find the best move of a position.",
  options,
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

/** Runs, and tells what was thrown on purpose. */
async function orTellError(input: CommandInput, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (thrown) {
    if (!(thrown instanceof KibitzError)) {
      throw thrown;
    }
    return tellError(thrown, input);
  }
}

/** By the same rules as a request over JSON. */
function readRequest(sent: Readonly<Record<string, unknown>>): AnalysisRequest {
  const { message, faults } = createMessageReader(AnalysisRequestSchema)(sent);
  const all = [...faults, ...createRules()(message, AnalysisRequestSchema)];
  if (all.length > 0) {
    throw errorFromFaults(all);
  }
  return message as AnalysisRequest;
}

/** The request as JSON callers would write it, so that it is judged by the same rules. */
function requestFromInput({ values, positionals }: CommandInput): Record<string, unknown> {
  if (positionals.length === 0) {
    throw new UsageError("give the position as a FEN");
  }
  const { depth, nodes, multipv, movetime, moves, engine, path, option } = values;
  const searchMoves = values["search-moves"];
  return {
    // The words of a FEN that was not quoted.
    fen: positionals.join(" "),
    ...(typeof moves === "string" && { moves: movesOfText(moves) }),
    ...(typeof searchMoves === "string" && { search_moves: movesOfText(searchMoves) }),
    ...(typeof depth === "string" && { depth: valueOfText(depth) }),
    ...(typeof nodes === "string" && { nodes: valueOfText(nodes) }),
    ...(typeof multipv === "string" && { multipv: valueOfText(multipv) }),
    ...(typeof movetime === "string" && { movetime_ms: valueOfText(movetime) }),
    ...(engine !== undefined && { engine }),
    ...(path !== undefined && { path }),
    ...(Array.isArray(option) && { options: optionsFromTexts(option) }),
  };
}

function movesOfText(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean);
}

function optionsFromTexts(texts: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    texts.map((text) => {
      const [name, value] = text.split("=", 2);
      if (!name || value === undefined) {
        throw new UsageError(`--option ${text} must be written name=value, such as skill_level=5`);
      }
      return [name, valueOfText(value)];
    }),
  );
}

/** Numbers and truth values as such; what is neither stays text, for the judges to refuse. */
function valueOfText(text: string): number | boolean | string {
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    return Number(text);
  }
  return text === "true" || (text !== "false" && text);
}

function jsonOf(schema: DescMessage, message: Message): string {
  return `${createMessageWriter(schema)(message)}\n`;
}

function tellError(error: KibitzError, { values, host }: CommandInput): number {
  if (values.json === true) {
    host.stdout.write(`${JSON.stringify(problemFromError(error, "cli"))}\n`);
  } else {
    const messages = error.faults.length > 0 ? error.faults.map(({ message }) => message) : [error.message];
    host.stderr.write(messages.map((message) => `kibitz: ${message}\n`).join(""));
    if (error.suggestedRequest) {
      host.stderr.write(
        `kibitz: this request would be answered: ${JSON.stringify(error.suggestedRequest)}\n`,
      );
    }
  }
  return errorKind(error.code).status < 500 ? exitCode.usage : exitCode.failure;
}
