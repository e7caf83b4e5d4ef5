import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** An option of an engine, as its form has it. */
export interface OptionField {
  /** JSON name: `skill_level`. */
  readonly name: string;
  readonly title: string;
  readonly kind: "integer" | "boolean" | "choice" | "text";
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly string[];
  /** The default, as text; empty if the schema has none. */
  readonly usual: string;
}

/** Returns a field for each option in the `options_schema` of an engine, except for types that no form has. */
export function optionFields(schema: JsonObject | undefined): readonly OptionField[] {
  return Object.entries(objectOf(schema?.properties)).flatMap(([name, property]) => {
    const { type, title, enum: choices, default: usual, minimum, maximum } = objectOf(property);
    const kind = Array.isArray(choices) ? "choice" : kinds[String(type)];
    return kind === undefined
      ? []
      : [
          {
            name,
            title: typeof title === "string" ? title : name,
            kind,
            minimum: typeof minimum === "number" ? minimum : undefined,
            maximum: typeof maximum === "number" ? maximum : undefined,
            choices: Array.isArray(choices) ? choices.map(String) : [],
            usual: usual === undefined ? "" : String(usual),
          },
        ];
  });
}

const kinds: Readonly<Record<string, OptionField["kind"]>> = {
  integer: "integer",
  boolean: "boolean",
  string: "text",
};

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
