import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type FieldRules, Ignore } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { wordsOfEnum } from "../../src/calls/plain/enum-words.ts";
import type { Json } from "./json.ts";
import { keywordsFromRules, rulesOfField } from "./rules-of-field.ts";

/** Returns the schema of an enum. For a message, adds the schema to the document if it is missing, and returns a reference. */
export type Refer = (desc: DescMessage | DescEnum) => Json;

/** Returns the schema of a field that is present. A list becomes an array, and a map becomes an object. */
export function schemaOfValue(field: DescField, refer: Refer): Json {
  const rules = rulesOfField(field);
  switch (field.fieldKind) {
    case "list": {
      const items = rules.type.case === "repeated" ? rules.type.value.items : undefined;
      const least = rules.required ? { minItems: 1 } : {};
      return {
        type: "array",
        items: schemaOfItem(field, items, refer),
        ...least,
        ...keywordsFromRules(rules, field),
      };
    }
    case "map":
      return { type: "object", additionalProperties: schemaOfItem(field, undefined, refer) };
    default:
      return schemaOfItem(field, rules, refer);
  }
}

/** `rules` are the rules of the value, or of one item if the field is a list. */
function schemaOfItem(field: DescField, rules: FieldRules | undefined, refer: Refer): Json {
  const keywords = rules && rules.ignore !== Ignore.ALWAYS ? keywordsFromRules(rules, field) : {};
  if (field.enum) {
    const allowed = rules?.type.case === "enum" ? rules.type.value.in : [];
    return allowed.length > 0 ? { type: "string", enum: wordsOf(field.enum, allowed) } : refer(field.enum);
  }
  if (field.message) {
    return schemaOfWellKnown(field.message) ?? refer(field.message);
  }
  if (field.scalar === undefined) {
    throw new Error(`${field} has no type`);
  }
  return { ...schemaOfScalar(field.scalar, field), ...keywords };
}

function wordsOf(desc: DescEnum, numbers: readonly number[]): readonly string[] {
  return [...wordsOfEnum(desc)].filter(([number]) => numbers.includes(number)).map(([, word]) => word);
}

function schemaOfWellKnown({ typeName }: DescMessage): Json | undefined {
  switch (typeName) {
    case "google.protobuf.Struct":
      return { type: "object", additionalProperties: true };
    case "google.protobuf.Timestamp":
      return { type: "string", format: "date-time" };
    default:
      return undefined;
  }
}

/** The JSON API writes 64-bit integers as numbers. */
function schemaOfScalar(type: ScalarType, field: DescField): Json {
  switch (type) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", minimum: 0 };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "integer", format: "int64" };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "integer", format: "int64", minimum: 0 };
    default:
      throw new Error(`${field}: this type is not supported in plain JSON`);
  }
}

export function orNull(schema: Json): Json {
  if (typeof schema.type !== "string") {
    return { oneOf: [schema, { type: "null" }] };
  }
  const words = schema.enum as readonly unknown[] | undefined;
  return { ...schema, type: [schema.type, "null"], ...(words && { enum: [...words, null] }) };
}
