import { type DescField, getOption, isFieldSet, type Message, ScalarType } from "@bufbuild/protobuf";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldOption,
  type StringRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Json } from "./json.ts";

/** Returns the buf.validate rules of a field. For a list, omits the rules of the items. */
export function rulesOfField(field: DescField): FieldRules {
  return getOption(field, fieldOption);
}

/** Throws Error if JSON Schema has no keyword for a rule, because the document must contain every rule. */
export function keywordsFromRules(rules: FieldRules, field: DescField): Json {
  checkAllSupported(rules);
  const { type, required } = rules;
  // Add `minLength`, because proto3 treats a required empty text as missing.
  const filled =
    required && field.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? { minLength: 1 } : {};
  switch (type.case) {
    case "string":
      return { ...filled, ...keywordsFromString(type.value) };
    case "repeated": {
      const { minItems, maxItems } = type.value;
      return {
        ...(minItems && { minItems: Number(minItems) }),
        ...(maxItems && { maxItems: Number(maxItems) }),
      };
    }
    case "sint32":
    case "int32":
    case "uint32":
    case "int64":
    case "uint64":
    case "double": {
      const { lessThan: less, greaterThan: greater } = type.value;
      return {
        ...(greater.case && {
          [greater.case === "gt" ? "exclusiveMinimum" : "minimum"]: Number(greater.value),
        }),
        ...(less.case && { [less.case === "lt" ? "exclusiveMaximum" : "maximum"]: Number(less.value) }),
      };
    }
    default:
      return filled;
  }
}

function keywordsFromString({ minLen, maxLen, maxBytes, pattern, in: words, wellKnown }: StringRules): Json {
  return {
    ...(minLen && { minLength: Number(minLen) }),
    ...(maxLen && { maxLength: Number(maxLen) }),
    // Use `maxLength` for bytes, because each character has at least one byte.
    ...(maxBytes && { maxLength: Number(maxBytes) }),
    ...(pattern && { pattern }),
    ...(words.length > 0 && { enum: words }),
    ...(wellKnown.case && { format: wellKnown.case }),
  };
}

const bounds = ["gt", "gte", "lt", "lte"];

/** The buf.validate rules that `keywordsFromRules` supports, by type of the field. */
const supported: Readonly<Record<string, readonly string[]>> = {
  string: ["min_len", "max_len", "max_bytes", "pattern", "in", "uuid"],
  repeated: ["min_items", "max_items", "items"],
  enum: ["defined_only", "in"],
  sint32: bounds,
  int32: bounds,
  uint32: bounds,
  int64: bounds,
  uint64: bounds,
  double: bounds,
};

function checkAllSupported({ type, ...rules }: FieldRules): void {
  const kind = FieldRulesSchema.fields.find(({ localName }) => localName === type.case);
  const ofKind = kind?.message?.fields ?? [];
  const unsupported = [
    ...FieldRulesSchema.fields.filter(({ oneof, name }) => !oneof && !["required", "ignore"].includes(name)),
    ...ofKind.filter(({ name }) => !supported[kind?.name ?? ""]?.includes(name)),
  ].find((rule) => isFieldSet((ofKind.includes(rule) ? type.value : { type, ...rules }) as Message, rule));
  if (unsupported) {
    throw new Error(`no keyword of JSON Schema is known for the rule ${unsupported}`);
  }
}
