import { type DescEnum, type DescField, fromJson, ScalarType } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { wordsOfEnum } from "./enum-words.ts";
import { createNumberReader } from "./read-number.ts";
import { createStructReader } from "./read-struct.ts";
import { refuse, refuseHalfPair } from "./refuse.ts";
import type { ReadValue } from "./value-reader.ts";

/**
 * The reader of one value of a field, of one item if it is a list or map; for all but messages of our own.
 * Throws at once for types that JSON callers have no use for.
 */
export function createValueReader(field: DescField): ReadValue {
  const name = nameOfValue(field);
  if (field.enum) {
    return readWord(name, field.enum);
  }
  if (field.message?.typeName === "google.protobuf.Struct") {
    return createStructReader(name);
  }
  if (field.message?.typeName === "google.protobuf.Timestamp") {
    return readTimestamp(name);
  }
  if (field.scalar === ScalarType.STRING) {
    return readString(name);
  }
  if (field.scalar === ScalarType.BOOL) {
    return readBoolean(name);
  }
  const readNumber = createNumberReader(name, field);
  if (!readNumber) {
    throw new Error(`${field}: this type is not supported in plain JSON`);
  }
  return readNumber;
}

/** How a complaint begins: with the field as its proto names it. */
export function nameOfValue(field: DescField): string {
  return field.fieldKind === "list" ? `Each item of \`${field.name}\`` : `\`${field.name}\``;
}

function readBoolean(name: string): ReadValue {
  const must = `${name} must be true or false`;
  return (json, faults) => (typeof json === "boolean" ? json : refuse(faults, "invalid_type", must, json));
}

function readString(name: string): ReadValue {
  const must = `${name} must be a string`;
  return (json, faults) => {
    if (typeof json !== "string") {
      return refuse(faults, "invalid_type", must, json);
    }
    return json.isWellFormed() ? json : refuseHalfPair(faults, name);
  };
}

function readWord(name: string, desc: DescEnum): ReadValue {
  const numbers = new Map([...wordsOfEnum(desc)].map(([number, word]) => [word, number]));
  const words = [...numbers.keys()];
  const must = `${name} must be one of ${words.map((word) => `"${word}"`).join(", ")}`;
  const allowed = { enum: words };
  return (json, faults) => {
    if (typeof json !== "string") {
      return refuse(faults, "invalid_type", must, json, allowed);
    }
    return numbers.get(json) ?? refuse(faults, "out_of_range", must, json, allowed);
  };
}

function readTimestamp(name: string): ReadValue {
  const must = `${name} must be an RFC 3339 timestamp, such as "2026-11-21T12:00:00Z"`;
  return (json, faults): Timestamp | undefined => {
    try {
      if (typeof json === "string") {
        return fromJson(TimestampSchema, json);
      }
    } catch {
      // protobuf-es says no more than that it is none.
    }
    return refuse(faults, "invalid_type", must, json);
  };
}
