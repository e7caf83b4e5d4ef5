import { type AnalysisRequest, AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { requestBounds } from "../analysis/analysis.ts";
import { createMessageReader } from "../calls/plain/read-message.ts";
import { createRules } from "../calls/rules.ts";
import { errorFromFaults } from "../errors/errors.ts";
import { type Command, type CommandInput, UsageError } from "./command.ts";

const range = ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }) =>
  `${minimum} to ${maximum}`;

/** What can be asked of a search. */
export const searchOptions = {
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

/** Stands for positions of files while what is asked of all of them is judged. */
const anyFen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";

/**
 * What is asked of every position of a file, judged once by the same rules. What is wrong with a position is told in its
 * own answer.
 *
 * @throws KibitzError
 */
export function readRequestOfMany(input: CommandInput): AnalysisRequest {
  return readRequest(requestFromInput({ ...input, positionals: [anyFen] }));
}

/** By the same rules as a request over JSON. @throws KibitzError */
export function readRequest(sent: Readonly<Record<string, unknown>>): AnalysisRequest {
  const { message, faults } = readJudged(sent);
  if (faults.length > 0) {
    throw errorFromFaults(faults);
  }
  return message;
}

/** What can be sent; whether it keeps to the rules, the service says that is asked. @throws KibitzError for what cannot */
export function readSendable(sent: Readonly<Record<string, unknown>>): AnalysisRequest {
  const { message, unreadable, faults } = readJudged(sent);
  if (unreadable) {
    throw errorFromFaults(faults);
  }
  return message;
}

function readJudged(sent: Readonly<Record<string, unknown>>) {
  const reading = createMessageReader(AnalysisRequestSchema)(sent);
  const message = reading.message as AnalysisRequest;
  const faults = createRules()(message, AnalysisRequestSchema, reading.faults);
  return { message, unreadable: reading.faults.length > 0, faults };
}

/** The request as JSON callers would write it, so that it is judged by the same rules. */
export function requestFromInput({ values, positionals }: CommandInput): Record<string, unknown> {
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
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined) {
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
