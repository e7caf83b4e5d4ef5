import type { DescMessage, Message } from "@bufbuild/protobuf";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import type { Fault } from "../errors.ts";
import { boundsOfField } from "../field-rules.ts";

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
        return result.violations.map(faultFromViolation);
      case "error":
        throw result.error;
    }
  };
}

function faultFromViolation(violation: Violation): Fault {
  const { field: path, ruleId, message } = violation;
  const field = path.findLast((segment) => segment.kind === "field");
  const pointer = path.map(tokenOf).join("");
  const name = `\`${pointer.slice(1).replaceAll("/", ".")}\``;
  // A FEN that is missing or too long is a bad FEN, not a number out of range.
  const code = field?.name === "fen" ? "invalid_fen" : "out_of_range";
  if (ruleId === "required") {
    return { pointer, code, message: `${name} is required.` };
  }
  if (field && /^u?int32\./.test(ruleId)) {
    const { minimum, maximum } = boundsOfField(field, { minimum: 0, maximum: 0xffff_ffff });
    return {
      pointer,
      code,
      message: `${name} must be from ${minimum} to ${maximum}.`,
      allowed: { minimum, maximum },
    };
  }
  return { pointer, code, message: `${name} ${message.replace(/^value /, "")}.` };
}

type Segment = Violation["field"][number];

function tokenOf(segment: Segment): string {
  switch (segment.kind) {
    case "field":
      return `/${segment.name}`;
    case "list_sub":
      return `/${segment.index}`;
    case "map_sub":
      return `/${String(segment.key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    default:
      return "";
  }
}
