import {
  type DescField,
  type DescMessage,
  isFieldSet,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { wordsOfEnum } from "./enum-words.ts";

type Members = Readonly<Record<string, unknown>>;

type Write = (value: unknown) => JsonValue;

export function createMessageWriter(desc: DescMessage): (message: Message) => string {
  const write = createPlainWriter(desc);
  return (message) => JSON.stringify(write(message));
}

export function createRequestWriter(desc: DescMessage): (message: Message) => JsonObject {
  return createWriter(desc, true);
}

/** An unset field becomes `null`, and a 64-bit integer becomes a number. Throws for types that the API does not use. */
export function createPlainWriter(desc: DescMessage): (message: Message) => JsonObject {
  return createWriter(desc, false);
}

function createWriter(desc: DescMessage, onlySet: boolean): (message: Message) => JsonObject {
  const fields = desc.fields.map((field) => ({ field, write: createFieldWriter(field, onlySet) }));
  return (message) => {
    const plain: JsonObject = {};
    for (const { field, write } of fields) {
      if (onlySet && !isFieldSet(message, field)) {
        continue;
      }
      const value = fieldValue(message as Message & Members, field);
      plain[field.name] = value === undefined ? null : write(value);
    }
    return plain;
  };
}

function fieldValue(message: Members, { oneof, localName }: DescField): unknown {
  if (oneof === undefined) {
    return message[localName];
  }
  const chosen = message[oneof.localName] as { readonly case?: string; readonly value?: unknown };
  return chosen.case === localName ? chosen.value : undefined;
}

function createFieldWriter(field: DescField, onlySet: boolean): Write {
  const write = createValueWriter(field, onlySet);
  switch (field.fieldKind) {
    case "list":
      return (items) => (items as readonly unknown[]).map((item) => write(item));
    case "map":
      // Unlike an assignment, `Object.fromEntries` can create a property with the name `__proto__`.
      return (map) =>
        Object.fromEntries(Object.entries(map as Members).map(([key, item]) => [key, write(item)]));
    default:
      return write;
  }
}

function createValueWriter(field: DescField, onlySet: boolean): Write {
  if (field.enum) {
    const words = wordsOfEnum(field.enum);
    return (value) => words.get(value as number) ?? null;
  }
  if (field.message) {
    const { typeName } = field.message;
    if (typeName === "google.protobuf.Struct") {
      return (value) => value as JsonValue;
    }
    if (typeName === "google.protobuf.Timestamp") {
      return (value) => toJson(TimestampSchema, value as Timestamp);
    }
    if (typeName.startsWith("google.protobuf.")) {
      throw notSupported(field);
    }
    return createWriter(field.message, onlySet) as Write;
  }
  switch (field.scalar) {
    case ScalarType.UINT64:
      return Number;
    case ScalarType.STRING:
    case ScalarType.BOOL:
    case ScalarType.UINT32:
    case ScalarType.SINT32:
    case ScalarType.DOUBLE:
      return (value) => value as JsonValue;
    default:
      throw notSupported(field);
  }
}

function notSupported(field: DescField): Error {
  return new Error(`${field}: this type is not supported in plain JSON`);
}
