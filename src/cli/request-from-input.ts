import { type AnalysisRequest, AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { requestBounds } from "../analysis/analysis.ts";
import { createMessageReader } from "../calls/plain/read-message.ts";
import { checkRules } from "../calls/rules.ts";
import { errorFromViolations } from "../errors/errors.ts";
import { type Command, type CommandInput, UsageError } from "./command.ts";
import { engineChoice } from "./engine-choice.ts";

const range = ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }) =>
  `${minimum} to ${maximum}`;

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
    about: `longest search, ${range(requestBounds.movetimeMs)}; alone, to the greatest depth that is allowed`,
  },
  moves: { type: "string", short: "m", value: "<moves>", about: 'moves played from the FEN: "e4 e5 Nf3"' },
  "search-moves": { type: "string", value: "<moves>", about: 'search only these moves: "e4 d4"' },
  ...engineChoice,
  option: {
    type: "string",
    short: "o",
    multiple: true,
    value: "<name=value>",
    about: "engine option, such as skill_level=5",
  },
  json: { type: "boolean", about: "print the API's answer, or the problem, as one line of JSON" },
} as const satisfies Command["options"];

/** A placeholder for the position, because the options are validated before the positions are read. */
const anyFen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";

/** Validates the options once for all positions of a command. Throws KibitzError for an invalid option. */
export function readRequestOfMany(input: CommandInput): AnalysisRequest {
  return readRequest(requestFromInput({ ...input, positionals: [anyFen] }));
}

export function readRequest(sent: Readonly<Record<string, unknown>>): AnalysisRequest {
  const { message, violations } = readValidated(sent);
  if (violations.length > 0) {
    throw errorFromViolations(violations);
  }
  return message;
}

/** Converts a request to a message without checking limits. Throws KibitzError if the request cannot be converted. */
export function readSendable(sent: Readonly<Record<string, unknown>>): AnalysisRequest {
  const { message, unreadable, violations } = readValidated(sent);
  if (unreadable) {
    throw errorFromViolations(violations);
  }
  return message;
}

function readValidated(sent: Readonly<Record<string, unknown>>) {
  const reading = createMessageReader(AnalysisRequestSchema)(sent);
  const message = reading.message as AnalysisRequest;
  const violations = checkRules(message, AnalysisRequestSchema, reading.violations);
  return { message, unreadable: reading.violations.length > 0, violations };
}

/** Returns the request in the form of the JSON API, because the JSON API validates the request. */
export function requestFromInput({ values, positionals }: CommandInput): Record<string, unknown> {
  if (positionals.length === 0) {
    throw new UsageError("give the position as a FEN");
  }
  const { depth, nodes, multipv, movetime, moves, engine, path, option } = values;
  const searchMoves = values["search-moves"];
  return {
    // Join the words, because a FEN without quotes is split into several words.
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

/** Converts numbers and booleans. Returns any other text unchanged: the service rejects an invalid text later. */
function valueOfText(text: string): number | boolean | string {
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    return Number(text);
  }
  return text === "true" || (text !== "false" && text);
}
