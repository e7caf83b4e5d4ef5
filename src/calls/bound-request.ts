import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { costOfBytes, errorFromViolations, KibitzError, withCost } from "../errors/errors.ts";
import { countJson, type JsonCount, wellFormedJson } from "../text/json.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { batchMethods, requestMaxBytes } from "./policy.ts";
import { boundsOfList } from "./rules.ts";

export const nestingMax = 32;

/** The maximum number of object members. Normal requests have a few dozen. Connect decodes 7000 members (64 KiB) in 6 ms. */
export const membersMax = 1000;

/** The maximum size of one request in a batch. The longest useful request has a fifth of this size. */
const itemMaxBytes = 32 * 1024;

/** The maximum number of keys, values and lists in a request. A useful review contains about 600. */
const partsMax = requestMaxBytes;

type MessageList = Extract<DescField, { fieldKind: "list"; listKind: "message" }>;

export function listOfBatch({ input }: DescMethod): MessageList {
  const lists = input.fields.filter((field) => field.fieldKind === "list" && field.listKind === "message");
  const [list] = lists;
  if (list === undefined || lists.length > 1) {
    throw new Error(`${input}: a batch has one list of requests`);
  }
  return list as MessageList;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns a JSON text without its byte order mark and without halves of surrogate pairs. Throws a KibitzError if the bytes are
 * not UTF-8. Does not parse the text.
 */
export function jsonFromBytes(bytes: Uint8Array): string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw malformed("The body is not valid UTF-8.", bytes.length);
  }
  return wellFormedJson(text);
}

/** Throws a KibitzError for a JSON text that would take long to parse or decode. */
export function boundJson(text: string, method?: DescMethod, maximum = partsMax): JsonCount {
  const count = countJson(text);
  const list = method && batchMethods.includes(method) ? listOfBatch(method) : undefined;
  if (count.levels > nestingMax) {
    throw malformed(`The body is nested more than ${nestingMax} levels deep.`, text.length);
  }
  if ((list ? count.itemMembers : count.members) > membersMax) {
    const what = list ? "One request of the batch" : "The body";
    throw malformed(`${what} has more than ${membersMax} keys.`, text.length);
  }
  if (list) {
    boundBatch(count, list, text.length);
  }
  boundParts(count, text.length, maximum);
  return count;
}

/**
 * Throws a KibitzError if the message has too many fields, or `invalid_type` if the fields cannot be counted.
 * Rejects repeated messages of type `Struct`, because decoding 22 kB took 5 s.
 */
export function boundBinary(bytes: Uint8Array, method: DescMethod): void {
  const list = batchMethods.includes(method) ? listOfBatch(method) : undefined;
  const count = { parts: 0, items: 0, itemLength: 0 };

  function scan(message: Uint8Array, desc: DescMessage, levels: number): void {
    if (levels > nestingMax) {
      throw new Error(`nested more than ${nestingMax} levels deep`);
    }
    const fields = fieldsByNumber(desc);
    const reader = new BinaryReader(message);
    const single = new Set<DescField>();
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      count.parts++;
      const field = fields.get(number);
      if (field === undefined) {
        reader.skip(wireType, number);
        continue;
      }
      if (wireType !== wireTypeOf(field)) {
        throw new Error(`field ${field.name} has the wire type ${wireType}`);
      }
      const inner = field.message;
      if (inner === undefined) {
        reader.skip(wireType, number);
        continue;
      }
      if (field.fieldKind === "message" && single.has(field)) {
        throw new Error(`field ${field.name} is repeated`);
      }
      single.add(field);
      const value = reader.bytes();
      if (field === list) {
        count.items++;
        count.itemLength = Math.max(count.itemLength, value.length);
      }
      if (field.fieldKind === "map") {
        scanEntry(value, inner, levels);
      } else {
        scan(value, inner, levels + 1);
      }
    }
  }

  /** An entry of a map is a message with a key (1) and a value (2). protobuf-es has no descriptor for this message. */
  function scanEntry(entry: Uint8Array, desc: DescMessage, levels: number): void {
    const reader = new BinaryReader(entry);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      count.parts++;
      // All maps of the API have strings as keys.
      if (number <= 2 && wireType !== WireType.LengthDelimited) {
        throw new Error("an entry of a map has the wrong wire type");
      }
      if (number === 2) {
        scan(reader.bytes(), desc, levels + 1);
      } else {
        reader.skip(wireType, number);
      }
    }
  }

  try {
    scan(bytes, method.input, 1);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const error = new KibitzError("invalid_type", `The call cannot be read: parse binary: ${reason}.`);
    throw withCost(error, costOfBytes(bytes.length));
  }
  if (list) {
    boundBatch(count, list, bytes.length);
  }
  boundParts(count, bytes.length);
}

const fieldMaps = new Map<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsByNumber(desc: DescMessage): ReadonlyMap<number, DescField> {
  const known = fieldMaps.get(desc) ?? new Map(desc.fields.map((field) => [field.number, field]));
  fieldMaps.set(desc, known);
  return known;
}

/** Scalars that are not listed here are varints. */
const wireTypes: ReadonlyMap<ScalarType | undefined, WireType> = new Map([
  [ScalarType.STRING, WireType.LengthDelimited],
  [ScalarType.BYTES, WireType.LengthDelimited],
  [ScalarType.DOUBLE, WireType.Bit64],
  [ScalarType.FIXED64, WireType.Bit64],
  [ScalarType.SFIXED64, WireType.Bit64],
  [ScalarType.FLOAT, WireType.Bit32],
  [ScalarType.FIXED32, WireType.Bit32],
  [ScalarType.SFIXED32, WireType.Bit32],
]);

function wireTypeOf({ message, fieldKind, scalar }: DescField): WireType {
  const isMessage = message !== undefined || fieldKind === "map";
  return isMessage ? WireType.LengthDelimited : (wireTypes.get(scalar) ?? WireType.Varint);
}

function boundParts({ parts }: Pick<JsonCount, "parts">, bytes: number, maximum = partsMax): void {
  if (parts > maximum) {
    const detail = `The request has more than ${maximum} keys, values and lists together, the maximum for this call.`;
    throw tooLarge(detail, bytes);
  }
}

function boundBatch(
  { items, itemLength }: Pick<JsonCount, "items" | "itemLength">,
  list: MessageList,
  bytes: number,
): void {
  const { name } = list;
  const { maximum } = boundsOfList(list);
  if (items > maximum) {
    const message = `\`${name}\` must have at most ${maximum} items, not ${items}.`;
    const error = errorFromViolations([{ pointer: pointerStep(name), code: "out_of_range", message }]);
    throw withCost(error, costOfBytes(bytes));
  }
  if (itemLength > itemMaxBytes) {
    const detail = `One item of \`${name}\` is larger than ${itemMaxBytes} bytes, the maximum for one request of a batch.`;
    throw tooLarge(detail, bytes);
  }
}

function malformed(message: string, bytes: number): KibitzError {
  return withCost(
    errorFromViolations([{ pointer: "", code: "malformed_json", message }]),
    costOfBytes(bytes),
  );
}

function tooLarge(detail: string, bytes: number): KibitzError {
  return withCost(new KibitzError("body_too_large", detail), costOfBytes(bytes));
}
