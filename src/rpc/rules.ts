import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import type { Fault } from "../errors/errors.ts";
import { boundsOfField } from "../field-rules.ts";
import { fieldPathOf, pointerStep } from "../text/json-pointer.ts";

/** The faults of a message by the rules that stand in its proto. */
export type Rules = (message: Message, desc: DescMessage) => readonly Fault[];

export function createRules(): Rules {
  const validator = createValidator();
  return (message, desc) => {
    const result = validator.validate(desc, message);
    switch (result.kind) {
      case "valid":
        return [];
      case "invalid":
        return result.violations.map((violation) => faultFromViolation(violation, message));
      case "error":
        throw result.error;
    }
  };
}

function faultFromViolation(violation: Violation, message: Message): Fault {
  const { field: path, ruleId } = violation;
  const field = path.findLast((segment) => segment.kind === "field");
  const pointer = path.map(tokenOf).join("");
  const name = `\`${fieldPathOf(pointer)}\``;
  const value = path.reduce<unknown>(valueAt, message);
  const code = codeOf(field, ruleId);
  if (field && /^u?int32\./.test(ruleId)) {
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
  return field?.name === "moves" && ruleId.startsWith("string.") ? "illegal_move" : "out_of_range";
}

function complaintOf({ ruleId, message }: Violation, field: DescField | undefined, value: unknown): string {
  const limit = /\d+/.exec(message)?.[0] ?? "";
  switch (ruleId) {
    case "required":
      // Proto cannot tell the one from the other.
      return "is required: it is missing or empty";
    case "string.min_len":
      return value === "" ? "must not be empty" : `must have at least ${limit} characters`;
    case "string.max_len":
      return `must have at most ${limit} characters, not ${[...String(value)].length}`;
    case "string.pattern":
      return "must not contain control characters";
    case "repeated.min_items":
      return `must have at least ${limit} ${limit === "1" ? "item" : "items"}, not ${(value as []).length}`;
    case "repeated.max_items":
      return `must have at most ${limit} items, not ${(value as []).length}`;
    case "enum.defined_only":
      return `must be one of ${wordsOf(field).join(", ")}, not ${value}`;
    default:
      return message.replace(/^value /, "");
  }
}

/** The words that plain JSON has for the values; the value 0 says that nothing is said. */
function wordsOf(field: DescField | undefined): readonly string[] {
  const { values = [], sharedPrefix = "" } = field?.enum ?? {};
  return values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => name.toLowerCase().slice(sharedPrefix.length));
}

type Segment = Violation["field"][number];

/** What stands in a message, list or map at one step of a path. */
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
