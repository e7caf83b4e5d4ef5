import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type Fault, faultsMax } from "../../errors/errors.ts";
import { isJsonObject } from "./is-json-object.ts";
import { createFieldReader, type ReadField } from "./read-field.ts";
import { createValueReader, nameOfValue } from "./read-value.ts";
import { prefixFaults, refuse } from "./refuse.ts";
import { unknownFieldFault } from "./unknown-field.ts";
import type { ReadValue } from "./value-reader.ts";

/** A message, and what was wrong with the JSON for it. */
export interface MessageReading {
  /** Without the fields at fault; in a list, an item at fault is empty. */
  readonly message: Message;
  /** About 20 at most: reading ends there. In the order of the JSON. */
  readonly faults: readonly Fault[];
}

/**
 * The reader of plain JSON for a type of message, put together once from its descriptor. Strict: only
 * the field names of the proto, only JSON's own types. `null` means absent where a field can be absent.
 * What the field's rules say is not checked here, but behind the gateway, for every door alike.
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

/** `made` lets a message type hold itself. */
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
