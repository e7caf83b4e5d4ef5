/** Bounds the work of decoding a request: one scan counts what is in it, and too much is refused before anything decodes it. */

import type { DescField, DescMethod } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { costOfBytes, errorFromFaults, KibitzError, withCost } from "../errors/errors.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { countJson, type JsonCount, membersMax, nestingMax } from "../text/json-scan.ts";
import { batchMethods, requestMaxBytes } from "./policy.ts";
import { boundsOfList } from "./rules.ts";

/** Bytes of one request of a batch: five times the longest useful request. */
const itemMaxBytes = 32 * 1024;

/** As many parts as a request of 64 KiB can have. A useful review, which may be longer, has about 600. */
const partsMax = requestMaxBytes;

/**
 * Parts of a batch: 200 requests with 600 moves and 218 `search_moves` each have 170,000. Connect takes 12 ms of processor time to
 * decode these, and at most 80 ms (median) for any other batch within the bounds.
 */
const batchPartsMax = 200_000;

type MessageList = Extract<DescField, { fieldKind: "list"; listKind: "message" }>;

/** The list of requests in the request of a batch. */
export function listOfBatch({ input }: DescMethod): MessageList {
  const lists = input.fields.filter((field) => field.fieldKind === "list" && field.listKind === "message");
  const [list] = lists;
  if (list === undefined || lists.length > 1) {
    throw new Error(`${input}: a batch has one list of requests`);
  }
  return list as MessageList;
}

/** @throws KibitzError for a text that would take long to parse or decode */
export function boundJson(text: string, method: DescMethod): JsonCount {
  const count = countJson(text);
  const isBatch = batchMethods.includes(method);
  if (count.levels > nestingMax) {
    throw malformed(`The request is nested more than ${nestingMax} levels deep.`, text.length);
  }
  if ((isBatch ? count.itemMembers : count.members) > membersMax) {
    throw malformed(
      `${isBatch ? "One request of the batch" : "The request"} has more than ${membersMax} keys.`,
      text.length,
    );
  }
  if (isBatch) {
    boundBatch(count, listOfBatch(method), text.length);
  } else {
    boundParts(count, text.length);
  }
  return count;
}

/** Counts the fields of a message, and those of each request of a batch. @throws KibitzError for too many */
export function boundBinary(bytes: Uint8Array, method: DescMethod): void {
  const list = batchMethods.includes(method) ? listOfBatch(method) : undefined;
  const count = { parts: 0, items: 0, itemLength: 0 };

  function scan(message: Uint8Array, listNumber?: number): void {
    const reader = new BinaryReader(message);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      count.parts++;
      if (number === listNumber && wireType === WireType.LengthDelimited) {
        const item = reader.bytes();
        count.items++;
        count.itemLength = Math.max(count.itemLength, item.length);
        scan(item);
      } else {
        reader.skip(wireType, number);
      }
    }
  }

  try {
    scan(bytes, list?.number);
  } catch {
    // The decoder reports what is broken, and it decodes no more than was counted until here.
  }
  if (list) {
    boundBatch(count, list, bytes.length);
  } else {
    boundParts(count, bytes.length);
  }
}

/** @throws KibitzError `body_too_large` */
export function boundParts({ parts }: Pick<JsonCount, "parts">, bytes: number, maximum = partsMax): void {
  if (parts > maximum) {
    const detail = `The request has more than ${maximum} keys, values and lists together, the maximum for this call.`;
    throw tooLarge(detail, bytes);
  }
}

function boundBatch(
  { parts, items, itemLength }: Pick<JsonCount, "parts" | "items" | "itemLength">,
  list: MessageList,
  bytes: number,
): void {
  const { name } = list;
  const { maximum } = boundsOfList(list);
  if (items > maximum) {
    const message = `\`${name}\` must have at most ${maximum} items, not ${items}.`;
    const error = errorFromFaults([{ pointer: pointerStep(name), code: "out_of_range", message }]);
    throw withCost(error, costOfBytes(bytes));
  }
  if (itemLength > itemMaxBytes) {
    const detail = `One item of \`${name}\` is larger than ${itemMaxBytes} bytes, the maximum for one request of a batch.`;
    throw tooLarge(detail, bytes);
  }
  boundParts({ parts }, bytes, batchPartsMax);
}

function malformed(message: string, bytes: number): KibitzError {
  return withCost(errorFromFaults([{ pointer: "", code: "malformed_json", message }]), costOfBytes(bytes));
}

function tooLarge(detail: string, bytes: number): KibitzError {
  return withCost(new KibitzError("body_too_large", detail), costOfBytes(bytes));
}
