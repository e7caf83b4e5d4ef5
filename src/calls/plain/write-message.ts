import {
  type DescField,
  type DescMessage,
  isFieldSet,
  type JsonObject,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { wordsOfEnum } from "./enum-words.ts";

type Members = Readonly<Record<string, unknown>>;
/** Returns the JSON text of a value. */
type Write = (value: unknown) => string;

/**
 * Builds the writer of JSON text for a type of message from its descriptor. It writes every field, by its proto name and in the order of
 * the proto, and `null` for one that is not set. 64-bit integers become numbers, which are exact to 2^53: enough for the counters of a
 * search.
 */
export function createMessageWriter(desc: DescMessage): (message: Message) => string {
  return messageWriter(desc, new Map()) as (message: Message) => string;
}

/** Builds the writer of requests as callers send them in plain JSON: with the fields that are set, and without all others. */
export function createRequestWriter(desc: DescMessage): (message: Message) => JsonObject {
  const write = createMessageWriter(desc);
  return (message) => {
    const plain = JSON.parse(write(message));
    const set = desc.fields.filter((field) => isFieldSet(message, field));
    return Object.fromEntries(set.map(({ name }) => [name, plain[name]]));
  };
}

/** @param known ends the recursion if a message type contains itself */
function messageWriter(desc: DescMessage, known: Map<DescMessage, Write>): Write {
  const made = known.get(desc);
  if (made) {
    return made;
  }
  const fields: ((message: Members) => string)[] = [];
  const write: Write = (message) => {
    let text = "";
    for (const field of fields) {
      text += field(message as Members);
    }
    return `{${text}}`;
  };
  known.set(desc, write);
  for (const [index, field] of desc.fields.entries()) {
    const key = `${index === 0 ? "" : ","}${JSON.stringify(field.name)}:`;
    const writeField = fieldWriter(field, known);
    fields.push((message) => key + writeField(message));
  }
  return write;
}

function fieldWriter(field: DescField, known: Map<DescMessage, Write>): (message: Members) => string {
  const { localName } = field;
  const write = valueWriter(field, known);
  if (field.fieldKind === "list") {
    return (message) => listText(message[localName] as readonly unknown[], write);
  }
  if (field.fieldKind === "map") {
    return (message) => mapText(message[localName] as Members, write);
  }
  if (field.oneof) {
    const group = field.oneof.localName;
    return (message) => {
      const chosen = message[group] as { readonly case?: string; readonly value?: unknown };
      return chosen.case === localName ? write(chosen.value) : "null";
    };
  }
  return (message) => {
    const value = message[localName];
    return value === undefined ? "null" : write(value);
  };
}

function listText(items: readonly unknown[], write: Write): string {
  let text = "";
  for (const item of items) {
    text += text === "" ? write(item) : `,${write(item)}`;
  }
  return `[${text}]`;
}

function mapText(entries: Members, write: Write): string {
  const members = Object.entries(entries).map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`);
  return `{${members.join()}}`;
}

/** Builds the writer of one value of a field, or of one item of a list or map. */
function valueWriter(field: DescField, known: Map<DescMessage, Write>): Write {
  if (field.enum) {
    const words = new Map(
      [...wordsOfEnum(field.enum)].map(([number, word]) => [number, JSON.stringify(word)]),
    );
    return (value) => words.get(value as number) ?? "null";
  }
  if (field.message) {
    const { typeName } = field.message;
    if (typeName === "google.protobuf.Struct") {
      return JSON.stringify;
    }
    if (typeName === "google.protobuf.Timestamp") {
      return (value) => JSON.stringify(toJson(TimestampSchema, value as Timestamp));
    }
    if (typeName.startsWith("google.protobuf.")) {
      throw notSupported(field);
    }
    return messageWriter(field.message, known);
  }
  switch (field.scalar) {
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (value) => String(Number(value));
    case ScalarType.BOOL:
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return String;
    case ScalarType.BYTES:
    case ScalarType.FLOAT:
      throw notSupported(field);
    default:
      return JSON.stringify;
  }
}

function notSupported(field: DescField): Error {
  return new Error(`${field}: this type is not supported in plain JSON`);
}
