import type { Plain } from "./protocol.ts";

/** Clients without ProtoJSON represent a google.protobuf.Struct in this form: `{ fields: { depth: { numberValue: 3 } } }`. */
interface Struct {
  readonly fields: Readonly<Record<string, Value>>;
}

interface Value {
  readonly nullValue?: unknown;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: Struct;
  readonly listValue?: { readonly values: readonly Value[] };
}

export function structFromPlain(plain: Plain): Struct {
  return {
    fields: Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, valueFromPlain(value)])),
  };
}

function valueFromPlain(plain: unknown): Value {
  switch (typeof plain) {
    case "number":
      return { numberValue: plain };
    case "boolean":
      return { boolValue: plain };
    case "string":
      return { stringValue: plain };
    default:
      throw new TypeError(`no test sends ${JSON.stringify(plain)} as an option`);
  }
}

export function withPlainStructs(message: object): object {
  return plainOf(message) as object;
}

function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plainOf);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if ("fields" in value) {
    return plainFromStruct(value as Struct);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plainOf(member)]));
}

function plainFromStruct({ fields }: Struct): Plain {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plainFromValue(value)]));
}

function plainFromValue(value: Value): unknown {
  const { numberValue, stringValue, boolValue, structValue, listValue } = value;
  if (structValue) {
    return plainFromStruct(structValue);
  }
  return listValue ? listValue.values.map(plainFromValue) : (numberValue ?? stringValue ?? boolValue ?? null);
}
