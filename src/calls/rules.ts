import { type DescField, type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import {
  type FieldRules,
  field as fieldRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Fault } from "../errors/errors.ts";
import { fieldPathOf, isAtOrBelow, pointerStep } from "../text/json-pointer.ts";
import { wordsOfEnum } from "./plain/enum-words.ts";

/**
 * The violations of a message by the rules of its proto.
 *
 * @param found what is wrong with the JSON of the message: it comes first, and nothing is reported twice
 */
export type Rules = (message: Message, desc: DescMessage, found?: readonly Fault[]) => readonly Fault[];

export function createRules(): Rules {
  const validator = createValidator();
  // To read an option of a descriptor takes ten microseconds.
  const limitsOf = new Map<DescMessage, ReturnType<typeof listLimitsOf>>();
  return (message, desc, found = []) => {
    const limits = limitsOf.get(desc) ?? listLimitsOf(desc);
    limitsOf.set(desc, limits);
    const result = validator.validate(desc, withoutExcess(message, limits));
    switch (result.kind) {
      case "valid":
        return found;
      case "invalid": {
        const faults = result.violations.map((violation) => faultFromViolation(violation, message));
        const isNew = ({ pointer }: Fault) => !found.some((one) => isAtOrBelow(pointer, one.pointer));
        return [...found, ...faults.filter(isNew)];
      }
      case "error":
        throw result.error;
    }
  };
}

/** The most items of each list of a type of message, by the name of its field. */
function listLimitsOf(desc: DescMessage): readonly (readonly [localName: string, itemsMax: number])[] {
  return desc.fields
    .filter(({ fieldKind }) => fieldKind === "list")
    .map((field) => [field.localName, boundsOfList(field).maximum]);
}

/**
 * A message whose lists have at most one item too many, because protovalidate reports every item of a list that is too
 * long: 32,000 empty moves held the thread for 60 ms.
 */
function withoutExcess(message: Message, limits: ReturnType<typeof listLimitsOf>): Message {
  const values = message as Message & Record<string, unknown>;
  let short = values;
  for (const [name, itemsMax] of limits) {
    const list = values[name] as readonly unknown[];
    if (list.length > itemsMax) {
      short = short === values ? Object.assign(Object.create(Object.getPrototypeOf(values)), values) : short;
      short[name] = list.slice(0, itemsMax + 1);
    }
  }
  return short;
}

function faultFromViolation(violation: Violation, message: Message): Fault {
  const { field: path, ruleId } = violation;
  const field = path.findLast((segment) => segment.kind === "field");
  const pointer = path.map(tokenOf).join("");
  const name = `\`${fieldPathOf(pointer)}\``;
  const value = path.reduce<unknown>(valueAt, message);
  const code = codeOf(field, ruleId);
  if (field && /^u?int(32|64)\./.test(ruleId)) {
    const { minimum, maximum } = boundsOfField(field, { minimum: 0, maximum: 0xffff_ffff });
    return {
      pointer,
      code,
      message: `${name} must be from ${minimum} to ${maximum}, not ${value}.`,
      allowed: { minimum, maximum },
    };
  }
  return { pointer, code, message: `${name} ${complaintOf(violation, field, value)}.` };
}

function codeOf(field: DescField | undefined, ruleId: string): Fault["code"] {
  // A FEN that is missing or too long is a bad FEN, and such a move no legal one: neither is a number out of range.
  if (field?.name === "fen") {
    return "invalid_fen";
  }
  const isMove = field?.name === "moves" || field?.name === "search_moves";
  return isMove && ruleId.startsWith("string.") ? "illegal_move" : "out_of_range";
}

function complaintOf({ ruleId, message }: Violation, field: DescField | undefined, value: unknown): string {
  // protovalidate names the limit in the text of a violation only.
  const limit = /\d+/.exec(message)?.[0] ?? "";
  switch (ruleId) {
    case "required":
      // Proto cannot distinguish the two.
      return "is required: it is missing or empty";
    case "string.min_len":
      return value === "" ? "must not be empty" : `must have at least ${limit} characters`;
    case "string.max_len":
      return `must have at most ${limit} characters, not ${[...String(value)].length}`;
    case "string.max_bytes":
      return `must have at most ${limit} bytes, not ${Buffer.byteLength(String(value))}`;
    case "string.pattern":
      return wordsOfPattern(field);
    case "repeated.min_items":
      return `must have at least ${limit} ${limit === "1" ? "item" : "items"}, not ${(value as []).length}`;
    case "repeated.max_items":
      return `must have at most ${limit} items, not ${(value as []).length}`;
    case "enum.defined_only": {
      const words = field?.enum ? [...wordsOfEnum(field.enum).values()] : [];
      return `must be one of ${words.join(", ")}, not ${value}`;
    }
    default:
      return message.replace(/^value /, "");
  }
}

/** The patterns of the proto, explained to people. */
const patterns: ReadonlyMap<string, string> = new Map([
  ["^[^\\x00-\\x1f\\x7f-\\x9f]*$", "must not contain control characters"],
  ["^[!-~]*$", "must consist of printable ASCII characters without spaces"],
]);

function wordsOfPattern(field: DescField | undefined): string {
  const type = field && getOption(field, fieldRules).type;
  const pattern = type?.case === "string" ? type.value.pattern : "";
  return patterns.get(pattern) ?? `must match ${pattern}`;
}

type Segment = Violation["field"][number];

/** Returns the value in a message, list or map at one step of a path. */
function valueAt(holder: unknown, segment: Segment): unknown {
  const values = holder as Readonly<Record<string, unknown>>;
  switch (segment.kind) {
    case "field":
      return segment.oneof
        ? (values[segment.oneof.localName] as { readonly value?: unknown }).value
        : values[segment.localName];
    case "list_sub":
      return values[segment.index];
    case "map_sub":
      return values[String(segment.key)];
    default:
      return undefined;
  }
}

function tokenOf(segment: Segment): string {
  switch (segment.kind) {
    case "field":
      return pointerStep(segment.name);
    case "list_sub":
      return pointerStep(segment.index);
    case "map_sub":
      return pointerStep(String(segment.key));
    default:
      return "";
  }
}

/** Least and greatest value of an integer field, both allowed: a fragment of a JSON Schema. */
export interface IntegerBounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** The bounds that the field's buf.validate rule sets, or for a list that of its items, within those of its type. */
export function boundsOfField(field: DescField, ofType: IntegerBounds): IntegerBounds {
  const { type } = getOption(field, fieldRules);
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
  const { type } = getOption(field, fieldRules);
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
