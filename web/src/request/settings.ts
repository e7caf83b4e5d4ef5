import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { texts } from "../texts.ts";
import { type Bounds, type NumberName, numberBounds, numberNames, searchMovesMax } from "./number-bounds.ts";
import type { OptionField } from "./option-fields.ts";

/**
 * How to search, as it is written in the form and in links: a flat record of texts by the names of the API, `depth`,
 * `multipv`, `movetime_ms`, `nodes`, `engine`, `path`, `search_moves` and `options.<name>`. What is not set is not there.
 */
export type Settings = Readonly<Record<string, string>>;

/** The part of an analysis request that says how to search. */
export type SearchRequest = Omit<
  Exclude<MessageInitShape<typeof AnalysisRequestSchema>, { $typeName: string }>,
  "fen" | "moves" | "$typeName" | "$unknown"
>;

export interface ReadSettings {
  /** Without what is at fault. */
  readonly request: SearchRequest;
  /** Error messages by the name of the setting; empty if all settings are valid. */
  readonly faults: Readonly<Record<string, string>>;
}

/** The ways to run an engine that can be asked for. */
export const paths = { auto: Path.AUTO, native: Path.NATIVE, wasm: Path.WASM } as const;

export const optionPrefix = "options.";
const optionName = /^options\.[a-z0-9_]{1,64}$/;
const otherNames: readonly string[] = [...numberNames, "engine", "path", "search_moves"];
/** 218 moves of 16 characters, each with a space. */
const textMaxCharacters = 3_706;

/** Picks the settings from a record, such as the parameters of a link. */
export function settingsFromRecord(record: Settings): Settings {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([name, text]) =>
        (otherNames.includes(name) || optionName.test(name)) &&
        text.trim() !== "" &&
        text.length <= textMaxCharacters,
    ),
  );
}

/** The settings with which a request is asked again, such as one that the service suggests. */
export function settingsFromRequest(request: SearchRequest): Settings {
  const path = Object.entries(paths).find(([, number]) => number === request.path)?.[0];
  const texts: Readonly<Record<string, string | undefined>> = {
    depth: request.depth?.toString(),
    multipv: request.multipv?.toString(),
    movetime_ms: request.movetimeMs?.toString(),
    nodes: request.nodes?.toString(),
    engine: request.engine,
    path,
    search_moves: request.searchMoves?.join(" "),
  };
  const options = Object.entries(request.options ?? {}).map(([name, value]) => [
    optionPrefix + name,
    String(value),
  ]);
  return settingsFromRecord(
    Object.fromEntries([...Object.entries(texts).map(([name, text]) => [name, text ?? ""]), ...options]),
  );
}

/** @param options those of the engine that is asked; of others it would refuse to hear. Undefined as long as nobody knows. */
export function readSettings(settings: Settings, options: readonly OptionField[] | undefined): ReadSettings {
  const faults: Record<string, string> = {};
  const integer = (name: string, bounds: Partial<Bounds>) => {
    const reading = readInteger(settings[name] ?? "", bounds);
    if (reading.kind === "fault") {
      faults[name] = reading.fault;
    }
    return reading.kind === "value" ? reading.value : undefined;
  };
  const number = (name: NumberName) => integer(name, numberBounds[name]);
  const depth = number("depth");
  const multipv = number("multipv");
  const movetimeMs = number("movetime_ms");
  const nodes = number("nodes");
  const engine = settings.engine?.trim();
  const path = Object.entries(paths).find(([word]) => word === settings.path)?.[1];
  const searchMoves = (settings.search_moves ?? "").split(/[\s,;]+/).filter((move) => move !== "");
  if (searchMoves.length > searchMovesMax) {
    faults.search_moves = texts.request.movesTooMany(searchMovesMax);
  }
  const values: JsonObject = {};
  for (const option of options ?? []) {
    const name = optionPrefix + option.name;
    const text = settings[name];
    if (text === undefined || text.trim() === "") {
      continue;
    }
    const value = option.kind === "integer" ? integer(name, option) : readWord(text, option);
    if (value !== undefined) {
      values[option.name] = value;
    } else {
      faults[name] ??= texts.request.notAChoice;
    }
  }
  return {
    request: {
      ...(depth !== undefined && { depth }),
      ...(multipv !== undefined && { multipv }),
      ...(movetimeMs !== undefined && { movetimeMs }),
      ...(nodes !== undefined && { nodes: BigInt(nodes) }),
      ...(engine && { engine }),
      ...(path && { path }),
      ...(searchMoves.length > 0 && searchMoves.length <= searchMovesMax && { searchMoves }),
      ...(Object.keys(values).length > 0 && { options: values }),
    },
    faults,
  };
}

type Reading =
  | { readonly kind: "none" }
  | { readonly kind: "value"; readonly value: number }
  | { readonly kind: "fault"; readonly fault: string };

function readInteger(text: string, { minimum = -Infinity, maximum = Infinity }: Partial<Bounds>): Reading {
  const written = text.trim();
  if (written === "") {
    return { kind: "none" };
  }
  const value = /^[+-]?\d{1,15}$/.test(written) ? Number(written) : Number.NaN;
  return value >= minimum && value <= maximum
    ? { kind: "value", value }
    : { kind: "fault", fault: texts.request.notInRange(minimum, maximum) };
}

function readWord(
  text: string,
  option: Exclude<OptionField, { kind: "integer" }>,
): string | boolean | undefined {
  switch (option.kind) {
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "choice":
      return option.choices.includes(text) ? text : undefined;
    case "text":
      return text;
  }
}
