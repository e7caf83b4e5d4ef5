import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

export interface OptionField {
  readonly name: string;
  readonly title: string;
  readonly kind: "number" | "boolean" | "choice" | "text";
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly string[];
  readonly usual: string;
}

const kinds = { integer: "number", boolean: "boolean", string: "text" } as const;

/** Omits options whose type has no form field. */
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
