import { type DescEnum, type DescField, fromJson, ScalarType } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type Fault, faultsMax } from "../../errors/errors.ts";
import { isJsonObject } from "../../text/plain-text.ts";
import { boundsOfField, type IntegerBounds } from "../rules.ts";
import { wordsOfEnum } from "./enum-words.ts";
import { prefixFaults, type ReadValue, refuse, refuseHalfPair } from "./refuse.ts";

/**
 * Builds the reader of one value of a field, or of one item of a list or map, for all types but Kibitz's own messages.
 *
 * @throws Error for types that the API does not use
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

/** The beginning of an error message: the field by its name in the proto. */
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
      // The error of protobuf-es says nothing more.
    }
    return refuse(faults, "invalid_type", must, json);
  };
}

/** Builds the reader of a number field; undefined for other fields. @param name begins its error messages */
export function createNumberReader(name: string, field: DescField): ReadValue | undefined {
  switch (field.scalar) {
    case ScalarType.DOUBLE:
      return readDouble(name);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return readInteger(name, field, int32);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return readInteger(name, field, uint32);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return readLong(readInteger(name, field, int53), field);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return readLong(readInteger(name, field, uint53), field);
    default:
      return undefined;
  }
}

const int32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const uint32 = { minimum: 0, maximum: 2 ** 32 - 1 };
// JSON.parse has rounded numbers beyond these bounds, so they are not the caller's.
const int53 = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const uint53 = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** Rejects only numbers that the type cannot hold, with the bounds of the field's rule, which the middleware checks. */
function readInteger(name: string, field: DescField, ofType: IntegerBounds): ReadValue {
  const allowed = boundsOfField(field, ofType);
  const must = `${name} must be an integer from ${allowed.minimum} to ${allowed.maximum}`;
  return (json, faults) => {
    if (typeof json !== "number" || (Number.isFinite(json) && !Number.isInteger(json))) {
      return refuse(faults, "invalid_type", must, json, { ...allowed });
    }
    if (json < ofType.minimum || json > ofType.maximum) {
      return refuse(faults, "out_of_range", must, json, { ...allowed });
    }
    return json === 0 ? 0 : json; // -0 is 0
  };
}

function readLong(read: ReadValue, field: DescField): ReadValue {
  const asString = "longAsString" in field && field.longAsString;
  return (json, faults) => {
    const value = read(json, faults);
    if (typeof value !== "number") {
      return undefined;
    }
    return asString ? String(value) : BigInt(value);
  };
}

function readDouble(name: string): ReadValue {
  return (json, faults) => {
    if (typeof json !== "number") {
      return refuse(faults, "invalid_type", `${name} must be a number`, json);
    }
    return Number.isFinite(json) ? json : refuse(faults, "out_of_range", `${name} must be finite`, json);
  };
}

/** Builds the reader of a google.protobuf.Struct: any JSON object, unchanged. */
export function createStructReader(name: string): ReadValue {
  return (json, faults) => {
    if (!isJsonObject(json)) {
      return refuse(faults, "invalid_type", `${name} must be an object`, json);
    }
    const before = faults.length;
    checkPortable(json, name, faults);
    return faults.length === before ? json : undefined;
  };
}

/** Reports values that JSON can write and protobuf cannot: numbers beyond a double, text that is not Unicode. */
function checkPortable(json: unknown, name: string, faults: Fault[]): void {
  if (typeof json === "number" && !Number.isFinite(json)) {
    refuse(faults, "out_of_range", `A number in ${name} must be finite`, json);
  } else if (typeof json === "string" && !json.isWellFormed()) {
    refuseHalfPair(faults, `A string in ${name}`);
  } else if (typeof json === "object" && json !== null) {
    const list = Array.isArray(json);
    for (const [key, value] of Object.entries(json)) {
      const before = faults.length;
      if (!key.isWellFormed()) {
        refuseHalfPair(faults, `A key in ${name}`);
      }
      checkPortable(value, name, faults);
      if (faults.length > before) {
        prefixFaults(faults, before, list ? Number(key) : key);
      }
      if (faults.length >= faultsMax) {
        return;
      }
    }
  }
}
