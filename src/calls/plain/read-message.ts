import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type Fault, faultsMax } from "../../errors/errors.ts";
import { isJsonObject } from "../../text/plain-text.ts";
import { createValueReader, nameOfValue } from "./read-value.ts";
import { prefixFaults, type ReadValue, refuse, unknownFieldFault } from "./refuse.ts";

/** A message, and what is wrong with the JSON that it was read from. */
export interface MessageReading {
  /** Without the fields at fault; in a list, an item at fault is empty. */
  readonly message: Message;
  /** In the order of the JSON. Reading ends after about 20. */
  readonly faults: readonly Fault[];
}

/**
 * Builds the reader of plain JSON for a type of message from its descriptor. The reader accepts only the field names of the proto and
 * only JSON's own types. `null` means absent if a field can be absent. The middleware checks the rules of the fields, for every protocol.
 */
export function createMessageReader(desc: DescMessage): (json: unknown) => MessageReading {
  const read = createObjectReader("The request", desc, new Map());
  return (json) => {
    const faults: Fault[] = [];
    const message = (read(json, faults) ?? create(desc)) as Message;
    return { message, faults };
  };
}

type ReadMembers = (json: Readonly<Record<string, unknown>>, faults: Fault[]) => Message;

function createObjectReader(name: string, desc: DescMessage, made: Map<DescMessage, ReadMembers>): ReadValue {
  const read = made.get(desc) ?? createMembersReader(desc, made);
  const must = `${name} must be an object`;
  return (json, faults) =>
    isJsonObject(json) ? read(json, faults) : refuse(faults, "invalid_type", must, json);
}

/** @param made lets a message type contain itself */
function createMembersReader(desc: DescMessage, made: Map<DescMessage, ReadMembers>): ReadMembers {
  const names = desc.fields.map(({ name }) => name);
  const fields = new Map<string, ReadField>();
  const read: ReadMembers = (json, faults) => {
    const message: Message & Record<string, unknown> = create(desc);
    for (const key in json) {
      const before = faults.length;
      const readField = fields.get(key);
      if (readField) {
        readField(message, json[key], faults);
      } else {
        faults.push(unknownFieldFault(key, names));
      }
      if (faults.length > before) {
        prefixFaults(faults, before, key);
        if (faults.length >= faultsMax) {
          break;
        }
      }
    }
    return message;
  };
  made.set(desc, read);
  for (const field of desc.fields) {
    fields.set(field.name, createFieldReader(field, itemReader(field, made)));
  }
  return read;
}

function itemReader(field: DescField, made: Map<DescMessage, ReadMembers>): ReadValue {
  const { message } = field;
  return message && !message.typeName.startsWith("google.protobuf.")
    ? createObjectReader(nameOfValue(field), message, made)
    : createValueReader(field);
}

/** Sets a field of a message from JSON, or leaves it unset if the JSON is wrong. */
export type ReadField = (message: Record<string, unknown>, json: unknown, faults: Fault[]) => void;

/** @param read reads the value of the field, or each of its items */
export function createFieldReader(field: DescField, read: ReadValue): ReadField {
  switch (field.fieldKind) {
    case "list":
      return readList(field, read);
    case "map":
      return readMap(field, read);
    default:
      return field.oneof ? readMember(field, field.oneof, read) : readSingle(field, read);
  }
}

function readSingle(field: DescField, read: ReadValue): ReadField {
  const { localName } = field;
  const nullable = field.fieldKind !== "scalar" || field.presence !== FeatureSet_FieldPresence.IMPLICIT;
  return (message, json, faults) => {
    if (json === null && nullable) {
      return;
    }
    const value = read(json, faults);
    if (value !== undefined) {
      message[localName] = value;
    }
  };
}

function readMember(field: DescField, oneof: DescOneof, read: ReadValue): ReadField {
  const group = oneof.localName;
  const names = oneof.fields.map(({ name }) => `\`${name}\``).join(", ");
  const must = { pointer: "", code: "invalid_type", message: `Only one of ${names} can be set.` } as const;
  return (message, json, faults) => {
    if (json === null) {
      return;
    }
    if ((message[group] as { case?: string }).case !== undefined) {
      faults.push(must);
      return;
    }
    const value = read(json, faults);
    if (value !== undefined) {
      message[group] = { case: field.localName, value };
    }
  };
}

function readList(field: DescField & { fieldKind: "list" }, read: ReadValue): ReadField {
  const must = `\`${field.name}\` must be an array`;
  return (message, json, faults) => {
    if (json === null) {
      return;
    }
    if (!Array.isArray(json)) {
      return refuse(faults, "invalid_type", must, json);
    }
    const items: unknown[] = [];
    for (let index = 0; index < json.length && faults.length < faultsMax; index++) {
      const before = faults.length;
      // A wrong item keeps its place, so that the rules find the others at theirs.
      items.push(read(json[index], faults) ?? emptyItem(field));
      if (faults.length > before) {
        prefixFaults(faults, before, index);
      }
    }
    message[field.localName] = items;
  };
}

function emptyItem(field: DescField & { fieldKind: "list" }): unknown {
  switch (field.listKind) {
    case "scalar":
      return scalarZeroValue(field.scalar, field.longAsString);
    case "enum":
      return 0;
    case "message":
      return field.message.typeName === "google.protobuf.Struct" ? {} : create(field.message);
  }
}

function readMap(field: DescField & { fieldKind: "map" }, read: ReadValue): ReadField {
  if (field.mapKey !== ScalarType.STRING) {
    throw new Error(`${field}: keys other than text are not supported in plain JSON`);
  }
  const must = `\`${field.name}\` must be an object`;
  return (message, json, faults) => {
    if (json === null) {
      return;
    }
    if (!isJsonObject(json)) {
      return refuse(faults, "invalid_type", must, json);
    }
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(json)) {
      const before = faults.length;
      const value = read(item, faults);
      if (value !== undefined) {
        entries.push([key, value]);
      }
      if (faults.length > before) {
        prefixFaults(faults, before, key);
      }
      if (faults.length >= faultsMax) {
        break;
      }
    }
    // fromEntries makes own properties, even of `__proto__`.
    message[field.localName] = Object.fromEntries(entries);
  };
}
