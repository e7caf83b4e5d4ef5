import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { type FieldRules, field as rules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** Least and greatest value of an integer field, both allowed: a fragment of a JSON Schema. */
export interface IntegerBounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** The bounds that the field's buf.validate rule sets, or for a list that of its items, within those of its type. */
export function boundsOfField(field: DescField, ofType: IntegerBounds): IntegerBounds {
  const { type } = getOption(field, rules);
  const bounds = integerRules(type.case === "repeated" ? type.value.items?.type : type);
  const { greaterThan, lessThan } = bounds ?? {};
  return {
    minimum: greaterThan?.case
      ? Number(greaterThan.value) + (greaterThan.case === "gt" ? 1 : 0)
      : ofType.minimum,
    maximum: lessThan?.case ? Number(lessThan.value) - (lessThan.case === "lt" ? 1 : 0) : ofType.maximum,
  };
}

/** How many items the field's rule lets a list have. */
export function boundsOfList(field: DescField): IntegerBounds {
  const { type } = getOption(field, rules);
  const { minItems = 0n, maxItems } = type.case === "repeated" ? type.value : {};
  // Absent and zero are one here: a list that may have no items needs no rule.
  return { minimum: Number(minItems), maximum: maxItems ? Number(maxItems) : Number.MAX_SAFE_INTEGER };
}

function integerRules(type: FieldRules["type"] | undefined) {
  switch (type?.case) {
    case "int32":
    case "sint32":
    case "sfixed32":
    case "uint32":
    case "fixed32":
    case "int64":
    case "sint64":
    case "sfixed64":
    case "uint64":
    case "fixed64":
      return type.value;
    default:
      return undefined;
  }
}

/** Names of the fields that a message cannot do without. */
export function requiredFields(desc: DescMessage): string[] {
  return desc.fields.filter((field) => getOption(field, rules).required).map(({ name }) => name);
}
