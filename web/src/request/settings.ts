import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { OptionField } from "./option-fields.ts";

/** The settings by their names in the API, such as `depth` or `options.<name>`. Default values are absent. */
export type Settings = Readonly<Record<string, string>>;

export type SearchRequest = Omit<
  Exclude<MessageInitShape<typeof AnalysisRequestSchema>, { $typeName: string }>,
  "fen" | "moves" | "$typeName" | "$unknown"
>;

export type NumberName = "depth" | "multipv" | "movetime_ms" | "nodes";

/** The limit of a search without settings. If `name` is `nodes`, the engine may refuse a depth. */
export interface UsualLimit {
  readonly name: "depth" | "nodes";
  readonly value: number;
}

export const paths = { auto: Path.AUTO, native: Path.NATIVE, wasm: Path.WASM } as const;

export const optionPrefix = "options.";
const numberName = /^(?:depth|multipv|movetime_ms|nodes)$/;
const optionName = /^options\.[a-z0-9_]{1,64}$/;
const otherNames = ["depth", "multipv", "movetime_ms", "nodes", "engine", "path", "search_moves"];
/** Enough for 218 moves of 16 characters, with a space after each move. No position has more than 218 legal moves. */
const textMaxCharacters = 3_706;

/** Removes unknown settings, and numeric settings whose text is not a number. */
export function settingsFromRecord(record: Settings): Settings {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([name, text]) =>
        (otherNames.includes(name) || optionName.test(name)) &&
        text.trim() !== "" &&
        (!numberName.test(name) || /^\s*-?\d+\s*$/.test(text)) &&
        text.length <= textMaxCharacters,
    ),
  );
}

/** Reads the settings of a request in plain JSON. The `lines` of a review become `multipv`. */
export function settingsFromPlain({ options, search_moves: moves, lines, ...plain }: JsonObject): Settings {
  const values: JsonObject = { ...(lines !== undefined && { multipv: lines }), ...plain };
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)]);
  const prefixed = Object.entries(options ?? {}).map(([name, value]) => [optionPrefix + name, String(value)]);
  const wanted = Array.isArray(moves) ? moves.join(" ") : "";
  return settingsFromRecord(Object.fromEntries([...texts, ...prefixed, ["search_moves", wanted]]));
}

/**
 * Omits a number that its field cannot represent. The service validates all other values.
 * @param options the options of the selected engine; undefined until the engines are loaded
 * @param limit the name of the engine's usual limit. If it is `nodes`, the depth is omitted, and stays in the settings for
 * other engines
 */
export function requestFromSettings(
  settings: Settings,
  options: readonly OptionField[] | undefined,
  limit: UsualLimit["name"] = "depth",
): SearchRequest {
  const depth = limit === "depth" ? uint32(settings.depth) : undefined;
  const multipv = uint32(settings.multipv);
  const movetimeMs = uint32(settings.movetime_ms);
  const nodes = /^\d{1,18}$/.test(settings.nodes ?? "") ? settings.nodes : undefined;
  const engine = settings.engine?.trim();
  const path = Object.entries(paths).find(([word]) => word === settings.path)?.[1];
  const searchMoves = (settings.search_moves ?? "").split(/[\s,;]+/).filter((move) => move !== "");
  const values: JsonObject = Object.fromEntries(
    (options ?? []).flatMap((option) => {
      const text = settings[optionPrefix + option.name]?.trim();
      return text ? [[option.name, optionValue(text, option)]] : [];
    }),
  );
  return {
    ...(depth !== undefined && { depth }),
    ...(multipv !== undefined && { multipv }),
    ...(movetimeMs !== undefined && { movetimeMs }),
    ...(nodes !== undefined && { nodes: BigInt(nodes) }),
    ...(engine && { engine }),
    ...(path && { path }),
    ...(searchMoves.length > 0 && { searchMoves }),
    ...(Object.keys(values).length > 0 && { options: values }),
  };
}

function uint32(text = ""): number | undefined {
  const number = /^\d{1,10}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return number < 2 ** 32 ? number : undefined;
}

/** Returns a text of the wrong type unchanged, because the service then explains the allowed values. */
function optionValue(text: string, { kind }: OptionField): string | number | boolean {
  if (kind === "number" && Number.isFinite(Number(text))) {
    return Number(text);
  }
  return kind === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
}
