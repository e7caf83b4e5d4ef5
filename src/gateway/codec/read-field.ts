import { create, type DescField, type DescOneof, ScalarType } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type Fault, faultsMax } from "../../errors/errors.ts";
import { isJsonObject } from "./is-json-object.ts";
import { prefixFaults, refuse } from "./refuse.ts";
import type { ReadValue } from "./value-reader.ts";

/** Sets a field of a message from JSON, or leaves it unset where the JSON is at fault. */
export type ReadField = (message: Record<string, unknown>, json: unknown, faults: Fault[]) => void;

/** The reader of a field whose value, or whose every item, `read` reads. */
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
      // An item at fault keeps its place, so that the rules see the others where they stand.
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
    // fromEntries makes own properties, of `__proto__` too.
    message[field.localName] = Object.fromEntries(entries);
  };
}
