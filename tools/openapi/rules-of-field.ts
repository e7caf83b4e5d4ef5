import { type DescField, getOption } from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as fieldOption,
  type StringRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Json } from "./json.ts";

/** What the buf.validate rules of a field say of its value, or of its list. */
export function rulesOfField(field: DescField): FieldRules {
  return getOption(field, fieldOption);
}

/**
 * The rules as keywords of JSON Schema. Throws for a rule that it has no keyword for: a rule that the service keeps
 * and the document conceals would be found by callers.
 */
export function keywordsFromRules({ type, required }: FieldRules): Json {
  switch (type.case) {
    case undefined:
    case "enum":
      return {};
    case "string":
      return keywordsFromString(type.value, required);
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
      const { lessThan, greaterThan } = type.value;
      return {
        ...(greaterThan.case && {
          [greaterThan.case === "gt" ? "exclusiveMinimum" : "minimum"]: Number(greaterThan.value),
        }),
        ...(lessThan.case && {
          [lessThan.case === "lt" ? "exclusiveMaximum" : "maximum"]: Number(lessThan.value),
        }),
      };
    }
    default:
      throw new Error(`no keyword of JSON Schema is known for the rules "${type.case}"`);
  }
}

function keywordsFromString(rules: StringRules, required: boolean): Json {
  const { minLen, maxLen, pattern, in: words, wellKnown } = rules;
  if (wellKnown.case !== undefined && wellKnown.case !== "uuid") {
    throw new Error(`no format of JSON Schema is known for the rule "${wellKnown.case}"`);
  }
  // A text that is required may not be empty: proto cannot tell the one from the other.
  const least = Number(minLen) || (required ? 1 : 0);
  return {
    ...(least > 0 && { minLength: least }),
    ...(maxLen && { maxLength: Number(maxLen) }),
    ...(pattern && { pattern }),
    ...(words.length > 0 && { enum: words }),
    ...(wellKnown.case && { format: wellKnown.case }),
  };
}
