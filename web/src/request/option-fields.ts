import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** An option of an engine, as its form has it. */
export type OptionField = {
  /** JSON name: `skill_level`. */
  readonly name: string;
  readonly title: string;
} & (
  | {
      readonly kind: "integer";
      readonly minimum?: number;
      readonly maximum?: number;
      readonly usual?: number;
    }
  | { readonly kind: "boolean"; readonly usual: boolean }
  | { readonly kind: "choice"; readonly choices: readonly string[]; readonly usual?: string }
  | { readonly kind: "text"; readonly usual?: string }
);

/** The fields that the `options_schema` of an engine asks for, in its order. What is of a kind that no form has is left out. */
export function optionFields(schema: JsonObject | undefined): readonly OptionField[] {
  return Object.entries(objectOf(schema?.properties)).flatMap(([name, property]) => {
    const field = fieldFrom(name, objectOf(property));
    return field ? [field] : [];
  });
}

function fieldFrom(name: string, property: JsonObject): OptionField | undefined {
  const { type, title, enum: choices, default: usual, minimum, maximum } = property;
  const head = { name, title: typeof title === "string" ? title : name };
  if (Array.isArray(choices)) {
    const words = choices.filter((choice) => typeof choice === "string");
    return { ...head, kind: "choice", choices: words, ...(typeof usual === "string" && { usual }) };
  }
  switch (type) {
    case "integer":
      return {
        ...head,
        kind: "integer",
        ...(typeof minimum === "number" && { minimum }),
        ...(typeof maximum === "number" && { maximum }),
        ...(typeof usual === "number" && { usual }),
      };
    case "boolean":
      return { ...head, kind: "boolean", usual: usual === true };
    case "string":
      return { ...head, kind: "text", ...(typeof usual === "string" && { usual }) };
    default:
      return undefined;
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
