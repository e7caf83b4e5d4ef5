import { type DescField, type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { createValidator, type Violation as RuleViolation } from "@bufbuild/protovalidate";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { requestBounds } from "../analysis/analysis.ts";
import { readPastedFen } from "../chess/pasted-fen.ts";
import type { Violation } from "../errors/errors.ts";
import { fieldPathOf, isAtOrBelow, pointerStep } from "../text/json-pointer.ts";
import { wordsOfEnum } from "./plain/enum-words.ts";

type Members = Readonly<Record<string | number, unknown>>;

/** Compiles the rules of a message when they are first needed, and keeps them. */
const validator = createValidator();

/**
 * Returns the violations in `found`, which are violations of the JSON, and then new violations. A value has at most one
 * violation.
 */
export function checkRules(
  message: Message,
  desc: DescMessage,
  found: readonly Violation[] = [],
): readonly Violation[] {
  const result = validator.validate(desc, withoutExcess(message, desc));
  switch (result.kind) {
    case "valid":
      return found;
    case "invalid": {
      const violations = result.violations.map((violation) => violationFromRule(violation, message));
      const isNew = ({ pointer }: Violation) => !found.some((one) => isAtOrBelow(pointer, one.pointer));
      return [...found, ...violations.filter(isNew)];
    }
    case "error":
      throw result.error;
  }
}

/** Checks only this number of items of each list, because protovalidate needed 60 ms for 32,000 invalid items. */
const checkedItemsMax = 1000;

function withoutExcess(message: Message, { fields }: DescMessage): Message {
  const short = Object.assign(Object.create(Object.getPrototypeOf(message)), message);
  for (const { fieldKind, localName } of fields) {
    if (fieldKind === "list") {
      short[localName] = short[localName].slice(0, checkedItemsMax);
    }
  }
  return short;
}

function violationFromRule(violation: RuleViolation, message: Message): Violation {
  const { field: path, ruleId } = violation;
  const field = path.findLast((segment) => segment.kind === "field");
  const steps = path.map(stepOf);
  const pointer = steps.map((step) => pointerStep(step.name)).join("");
  const name = `\`${fieldPathOf(pointer)}\``;
  const value = steps.reduce<unknown>((holder, { local }) => (holder as Members)[local], message);
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
  const { moves = [] } = message as Message & { readonly moves?: readonly string[] };
  // A FEN that is too long is never parsed. Find the correction here.
  const instead =
    field?.name === "fen" && ruleId === "string.max_len" ? readPastedFen(String(value), moves) : undefined;
  const text = `${name} ${complaintOf(violation, field, value)}.`;
  return { pointer, code, message: text, ...(instead && { instead: { ...instead } }) };
}

function codeOf(field: DescField | undefined, ruleId: string): Violation["code"] {
  if (field?.name === "fen") {
    return "invalid_fen";
  }
  const isMove = field?.name === "moves" || field?.name === "search_moves";
  return isMove && ruleId.startsWith("string.") ? "illegal_move" : "out_of_range";
}

function complaintOf(
  { ruleId, message }: RuleViolation,
  field: DescField | undefined,
  value: unknown,
): string {
  // protovalidate has the limit only in the text of a violation.
  const limit = /\d+/.exec(message)?.[0] ?? "";
  switch (ruleId) {
    case "required":
      // Protobuf has no difference between a missing string and an empty string.
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

const patterns: ReadonlyMap<string, string> = new Map([
  ["^[^\\x00-\\x1f\\x7f-\\x9f]*$", "must not contain control characters"],
  ["^[!-~]*$", "must consist of printable ASCII characters without spaces"],
]);

function wordsOfPattern(field: DescField | undefined): string {
  const type = field && getOption(field, fieldRules).type;
  const pattern = type?.case === "string" ? type.value.pattern : "";
  return patterns.get(pattern) ?? `must match ${pattern}`;
}

function stepOf(segment: RuleViolation["field"][number]): {
  readonly local: string | number;
  readonly name: string | number;
} {
  switch (segment.kind) {
    case "field":
      return { local: segment.localName, name: segment.name };
    case "list_sub":
      return { local: segment.index, name: segment.index };
    default:
      throw new Error(`${segment.kind}: no request has a rule for it`);
  }
}

/** The depth of a search whose request limits neither the depth nor the nodes. */
export const usualDepth: number = requestBounds.depth.default;

export interface IntegerBounds {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * Returns the bounds from the field's buf.validate rule, or the bounds of the type. For a list, returns the bounds of each
 * item.
 */
export function boundsOfField(field: DescField, ofType: IntegerBounds): IntegerBounds {
  const { type } = getOption(field, fieldRules);
  const rules = (type.case === "repeated" ? type.value.items?.type : type)?.value;
  const { greaterThan, lessThan } = rules !== undefined && "greaterThan" in rules ? rules : {};
  return {
    minimum: greaterThan?.case
      ? Number(greaterThan.value) + (greaterThan.case === "gt" ? 1 : 0)
      : ofType.minimum,
    maximum: lessThan?.case ? Number(lessThan.value) - (lessThan.case === "lt" ? 1 : 0) : ofType.maximum,
  };
}

export function boundsOfList(field: DescField): IntegerBounds {
  const { type } = getOption(field, fieldRules);
  const { minItems = 0n, maxItems } = type.case === "repeated" ? type.value : {};
  // 0 means that the rule has no maximum: the API has no list that must be empty.
  return { minimum: Number(minItems), maximum: maxItems ? Number(maxItems) : Number.MAX_SAFE_INTEGER };
}
