import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** An option of an engine, as its form has it. */
export interface OptionField {
  /** JSON name: `skill_level`. */
  readonly name: string;
  readonly title: string;
  readonly kind: "number" | "boolean" | "choice" | "text";
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly string[];
  /** The default, as text; empty if the schema has none. */
  readonly usual: string;
}

const kinds = { integer: "number", boolean: "boolean", string: "text" } as const;

/** Returns a field for each option in the `options_schema` of an engine, except for types that no form has. */
export function optionFields(schema: JsonObject | undefined): readonly OptionField[] {
  return Object.entries(objectOf(schema?.properties)).flatMap(([name, property]) => {
    const { type, title, enum: words, default: usual, minimum, maximum } = objectOf(property);
    const choices = Array.isArray(words) ? words.map(String) : [];
    const kind = choices.length > 0 ? "choice" : kinds[type as keyof typeof kinds];
    const field = {
      name,
      title: typeof title === "string" ? title : name,
      minimum: typeof minimum === "number" ? minimum : undefined,
      maximum: typeof maximum === "number" ? maximum : undefined,
      choices,
      usual: usual === undefined ? "" : String(usual),
    };
    return kind === undefined ? [] : [{ ...field, kind }];
  });
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
