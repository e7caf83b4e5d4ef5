import { type DescField, type DescMessage, type Message, ScalarType, toJson } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { wordsOfEnum } from "./enum-words.ts";

type Plain = Record<string, unknown>;
type Write = (value: unknown) => unknown;

/**
 * The writer of plain JSON for a type of message, put together once from its descriptor. Every field is
 * there, by its proto name and in the order of the proto; `null` where it is unset. 64-bit integers become
 * numbers, which are exact to 2^53: enough for what one search can count.
 */
export function createMessageWriter(desc: DescMessage): (message: Message) => Record<string, unknown> {
  return membersWriter(desc, new Map()) as (message: Message) => Plain;
}

/** `known` ends the recursion of a message type that holds itself. */
function membersWriter(desc: DescMessage, known: Map<DescMessage, Write>): Write {
  const made = known.get(desc);
  if (made) {
    return made;
  }
  const names: string[] = [];
  const fields: ((message: Plain) => unknown)[] = [];
  const write: Write = (message) => {
    const plain: Plain = {};
    for (let index = 0; index < names.length; index++) {
      plain[names[index] as string] = fields[index]?.(message as Plain);
    }
    return plain;
  };
  known.set(desc, write);
  for (const field of desc.fields) {
    names.push(field.name);
    fields.push(fieldWriter(field, known));
  }
  return write;
}

function fieldWriter(field: DescField, known: Map<DescMessage, Write>): (message: Plain) => unknown {
  const { localName } = field;
  const write = valueWriter(field, known);
  if (field.fieldKind === "list") {
    return write
      ? (message) => (message[localName] as unknown[]).map(write)
      : (message) => message[localName];
  }
  if (field.fieldKind === "map") {
    // fromEntries makes own properties, of `__proto__` too.
    return (message) =>
      Object.fromEntries(
        Object.entries(message[localName] as Plain).map(([key, value]) => [
          key,
          write ? write(value) : value,
        ]),
      );
  }
  if (field.oneof) {
    const group = field.oneof.localName;
    return (message) => {
      const chosen = message[group] as { readonly case?: string; readonly value?: unknown };
      if (chosen.case !== localName) {
        return null;
      }
      return write ? write(chosen.value) : chosen.value;
    };
  }
  return write
    ? (message) => {
        const value = message[localName];
        return value === undefined ? null : write(value);
      }
    : (message) => message[localName] ?? null;
}

/** The writer of one value, one item or one map value; `undefined` where JSON writes it as the message holds it. */
function valueWriter(field: DescField, known: Map<DescMessage, Write>): Write | undefined {
  if (field.enum) {
    const words = wordsOfEnum(field.enum);
    return (value) => words.get(value as number) ?? null;
  }
  if (field.message) {
    const { typeName } = field.message;
    if (typeName === "google.protobuf.Struct") {
      return undefined;
    }
    if (typeName === "google.protobuf.Timestamp") {
      return (value) => toJson(TimestampSchema, value as Timestamp);
    }
    if (typeName.startsWith("google.protobuf.")) {
      throw notSupported(field);
    }
    return membersWriter(field.message, known);
  }
  switch (field.scalar) {
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return Number;
    case ScalarType.BYTES:
    case ScalarType.FLOAT:
      throw notSupported(field);
    default:
      return undefined;
  }
}

function notSupported(field: DescField): Error {
  return new Error(`${field}: this type is not supported in plain JSON`);
}
