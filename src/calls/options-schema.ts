import type { JsonObject } from "@bufbuild/protobuf";
import type { EngineOption } from "../engine/engine.ts";

/** The options that callers may send to an engine, as a JSON Schema. */
export function schemaOfOptions(options: readonly EngineOption[]): JsonObject {
  const properties = Object.fromEntries(options.map((option) => [option.name, schemaOfOption(option)]));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    additionalProperties: false,
  };
}

/** The value of each option when the request sets none. */
export function defaultsOfOptions(options: readonly EngineOption[]): JsonObject {
  return Object.fromEntries(options.map((option) => [option.name, option.default]));
}

function schemaOfOption(option: EngineOption): JsonObject {
  const common = { title: titleOf(option), default: option.default, "x-uci-name": option.engineName };
  return option.kind === "boolean"
    ? { type: "boolean", ...common }
    : { type: "integer", minimum: option.minimum, maximum: option.maximum, ...common };
}

/** What the option does, for people. */
function titleOf({ name, engineName }: EngineOption): string {
  return titles.get(name) ?? engineName;
}

const titles: ReadonlyMap<string, string> = new Map([
  ["skill_level", "Playing strength by level; the highest is full strength"],
  ["uci_limit_strength", "Whether to play at the strength of uci_elo"],
  ["uci_elo", "Playing strength in Elo; needs uci_limit_strength"],
  ["uci_chess960", "Whether castling rights in the FEN are those of Chess960"],
]);
