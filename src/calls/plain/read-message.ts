import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { ErrorCode } from "../../errors/catalog.ts";
import { type Violation, violationsMax } from "../../errors/errors.ts";
import { echo, nameOfJson } from "../../text/echo.ts";
import { isJsonObject } from "../../text/json.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { movesInText } from "../../text/moves-in-text.ts";
import { didYouMean, nearestName } from "../../text/nearest-name.ts";
import { boundsOfField } from "../rules.ts";
import { wordsOfEnum } from "./enum-words.ts";

export interface MessageReading {
  /** The message without its invalid fields. An invalid item of a list becomes an empty item. */
  readonly message: Message;
  /** Reading stops after about 20 violations. */
  readonly violations: readonly Violation[];
}

/**
 * Accepts only the field names of the proto file, and does not convert JSON types. `null` means "not set".
 * Throws if the message type has a map, a oneof or a signed integer. Requests of the API have no such fields.
 */
export function createMessageReader(desc: DescMessage): (json: unknown) => MessageReading {
  const read = createObjectReader("The request", desc);
  return (json) => {
    const violations: Violation[] = [];
    const message = (read(json, violations) ?? create(desc)) as Message;
    return { message, violations };
  };
}

type ReadValue = (json: unknown, violations: Violation[]) => unknown;

function createObjectReader(name: string, desc: DescMessage): ReadValue {
  const must = `${name} must be an object`;
  const names = desc.fields.map((field) => field.name);
  const readers = new Map(
    desc.fields.map((field) => {
      const { localName } = field;
      return [field.name, { localName, nullable: isNullable(field), read: createFieldReader(field) }];
    }),
  );
  return (json, violations) => {
    if (!isJsonObject(json)) {
      return refuse(violations, "invalid_type", must, json);
    }
    const message: Message & Record<string, unknown> = create(desc);
    for (const key in json) {
      const before = violations.length;
      const field = readers.get(key);
      if (field === undefined) {
        violations.push(unknownFieldViolation(key, names));
      } else if (json[key] !== null || !field.nullable) {
        const value = field.read(json[key], violations);
        if (value !== undefined) {
          message[field.localName] = value;
        }
      }
      prefixViolations(violations, before, key);
      if (violations.length >= violationsMax) {
        break;
      }
    }
    return message;
  };
}

function isNullable(field: DescField): boolean {
  return field.fieldKind !== "scalar" || field.presence !== FeatureSet_FieldPresence.IMPLICIT;
}

function createFieldReader(field: DescField): ReadValue {
  const name = `\`${field.name}\``;
  if (field.fieldKind === "map" || field.oneof) {
    throw notSupported(field);
  }
  return field.fieldKind === "list"
    ? createListReader(name, field, createValueReader(`Each item of ${name}`, field))
    : createValueReader(name, field);
}

function createListReader(
  name: string,
  field: DescField & { fieldKind: "list" },
  readItem: ReadValue,
): ReadValue {
  const must = `${name} must be an array`;
  const isOfTexts = field.listKind === "scalar" && field.scalar === ScalarType.STRING;
  return (json, violations) => {
    if (!Array.isArray(json)) {
      const meant = isOfTexts && typeof json === "string" ? movesInText(json) : undefined;
      return refuse(violations, "invalid_type", must, json, meant && { examples: [meant] });
    }
    const items: unknown[] = [];
    for (let index = 0; index < json.length && violations.length < violationsMax; index++) {
      const before = violations.length;
      // Add an empty item instead of an invalid item, so that the indexes in other errors are correct.
      items.push(readItem(json[index], violations) ?? emptyItem(field));
      prefixViolations(violations, before, index);
    }
    return items;
  };
}

function emptyItem(field: DescField & { fieldKind: "list" }): unknown {
  switch (field.listKind) {
    case "scalar":
      return scalarZeroValue(field.scalar, false);
    case "enum":
      return 0;
    case "message":
      return create(field.message);
  }
}

/** `name` is the beginning of error messages, such as "`depth`" or "Each item of `moves`". */
function createValueReader(name: string, field: DescField): ReadValue {
  if (field.enum) {
    return createWordReader(name, field.enum);
  }
  if (field.message) {
    const { typeName } = field.message;
    if (typeName === "google.protobuf.Struct" && field.fieldKind === "message") {
      return createStructReader(name);
    }
    if (typeName.startsWith("google.protobuf.")) {
      throw notSupported(field);
    }
    return createObjectReader(name, field.message);
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return createStringReader(name);
    case ScalarType.BOOL:
      return createBooleanReader(name);
    case ScalarType.UINT32:
      return createIntegerReader(name, field, 2 ** 32 - 1);
    case ScalarType.UINT64: {
      // JSON.parse rounds larger numbers.
      const readInteger = createIntegerReader(name, field, Number.MAX_SAFE_INTEGER);
      return (json, violations) => {
        const value = readInteger(json, violations);
        return value === undefined ? undefined : BigInt(value as number);
      };
    }
    default:
      throw notSupported(field);
  }
}

function createStringReader(name: string): ReadValue {
  const must = `${name} must be a string`;
  return (json, violations) => {
    if (typeof json !== "string") {
      return refuse(violations, "invalid_type", must, json);
    }
    return json.isWellFormed() ? json : refuseHalfPair(violations, name);
  };
}

function createBooleanReader(name: string): ReadValue {
  const must = `${name} must be true or false`;
  return (json, violations) =>
    typeof json === "boolean" ? json : refuse(violations, "invalid_type", must, json);
}

function createWordReader(name: string, desc: DescEnum): ReadValue {
  const numbers = new Map([...wordsOfEnum(desc)].map(([number, word]) => [word, number]));
  const words = [...numbers.keys()];
  const must = `${name} must be one of ${words.map((word) => `"${word}"`).join(", ")}`;
  const allowed = { enum: words };
  return (json, violations) => {
    if (typeof json !== "string") {
      return refuse(violations, "invalid_type", must, json, allowed);
    }
    return numbers.get(json) ?? refuse(violations, "out_of_range", must, json, allowed);
  };
}

/**
 * Rejects numbers outside the range of the field's type. The error contains the narrower range of the field's validation rule.
 */
function createIntegerReader(name: string, field: DescField, maximum: number): ReadValue {
  const allowed = boundsOfField(field, { minimum: 0, maximum });
  const must = `${name} must be an integer from ${allowed.minimum} to ${allowed.maximum}`;
  return (json, violations) => {
    if (typeof json !== "number" || (Number.isFinite(json) && !Number.isInteger(json))) {
      return refuse(violations, "invalid_type", must, json, { ...allowed });
    }
    if (json < 0 || json > maximum) {
      return refuse(violations, "out_of_range", must, json, { ...allowed });
    }
    return json === 0 ? 0 : json; // -0 is 0
  };
}

function createStructReader(name: string): ReadValue {
  const must = `${name} must be an object`;
  return (json, violations) => {
    if (!isJsonObject(json)) {
      return refuse(violations, "invalid_type", must, json);
    }
    const before = violations.length;
    checkPortable(json, name, violations);
    return violations.length === before ? json : undefined;
  };
}

/** Reports JSON values that protobuf cannot contain: numbers beyond the range of a double, and strings that are not Unicode. */
function checkPortable(json: unknown, name: string, violations: Violation[]): void {
  if (typeof json === "number" && !Number.isFinite(json)) {
    refuse(violations, "out_of_range", `A number in ${name} must be finite`, json);
  } else if (typeof json === "string" && !json.isWellFormed()) {
    refuseHalfPair(violations, `A string in ${name}`);
  } else if (typeof json === "object" && json !== null) {
    const isList = Array.isArray(json);
    for (const [key, value] of Object.entries(json)) {
      const before = violations.length;
      if (!key.isWellFormed()) {
        refuseHalfPair(violations, `A key in ${name}`);
      }
      checkPortable(value, name, violations);
      prefixViolations(violations, before, isList ? Number(key) : key);
      if (violations.length >= violationsMax) {
        return;
      }
    }
  }
}

function notSupported(field: DescField): Error {
  return new Error(`${field}: this type is not supported in plain JSON`);
}

/**
 * Adds a violation such as "`depth` must be an integer from 1 to 30, not true." {@link prefixViolations} adds the pointer
 * later.
 */
function refuse(
  violations: Violation[],
  code: ErrorCode,
  must: string,
  json: unknown,
  allowed?: Violation["allowed"],
): undefined {
  violations.push({
    pointer: "",
    code,
    message: `${must}, not ${nameOfJson(json)}.`,
    ...(allowed && { allowed }),
  });
}

/** JSON can contain an unpaired surrogate as `"\ud800"`, but protobuf strings cannot. */
function refuseHalfPair(violations: Violation[], name: string): undefined {
  violations.push({ pointer: "", code: "invalid_type", message: `${name} contains an unpaired surrogate.` });
}

/** Adds `key` to the beginning of the pointer of each violation with an index of `from` or more. */
function prefixViolations(violations: Violation[], from: number, key: string | number): void {
  for (const [index, violation] of violations.entries()) {
    if (index >= from) {
      violations[index] = { ...violation, pointer: pointerStep(key) + violation.pointer };
    }
  }
}

/** The message suggests the most similar name in `names`. The pointer is relative to the object with the unknown key. */
export function unknownFieldViolation(key: string, names: readonly string[]): Violation {
  const known = `the fields are ${names.map((name) => `\`${name}\``).join(", ")}.`;
  const hint = names.length > 0 ? `: ${didYouMean(key, names, known)}` : ".";
  const meant = nearestName(key, names);
  const message = `There is no field ${echo(key, "`")} here${hint}`;
  return { pointer: "", code: "unknown_field", message, ...(meant && { meant }) };
}
