/** The requests of batches, decoded item by item: who decodes them can give the thread to others between any two. */

import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  fromBinary,
  fromJsonString,
  type Message,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { refuseLongParts } from "../../calls/policy.ts";
import { boundsOfList } from "../../calls/rules.ts";
import { splitList } from "../../text/json-scan.ts";
import { refuseManyMembers } from "./look-through.ts";

/**
 * Decodes a request that has one list of messages, and yields where it can be left for a while.
 *
 * @throws KibitzError, or an Error of the decoder's
 */
export function decodeInPieces(
  payload: Uint8Array,
  method: DescMethod,
  json: boolean,
): Generator<void, Message> {
  return json ? decodeJson(payload, method) : decodeBinary(payload, method);
}

function* decodeJson(payload: Uint8Array, { input }: DescMethod): Generator<void, Message> {
  const list = listOf(input);
  const text = new TextDecoder("utf-8", { fatal: true }).decode(payload).trim();
  const { maximum } = boundsOfList(list);
  const split = yield* splitList(text, list.name, maximum);
  if (split === undefined) {
    throw new Error(`cannot decode message ${input.typeName} from JSON: it is nested too deeply`);
  }
  const { frame, items, count = 0 } = split;
  refuseLongParts(
    list.name,
    frame,
    items.map((item) => item.trim()),
  );
  const read = (json: string, desc: DescMessage) => {
    refuseManyMembers(json, desc);
    return fromJsonString(desc, json, { ignoreUnknownFields: false });
  };
  const message = read(frame, input);
  if (count > maximum) {
    return withItems(message, list, emptyItems(list, count));
  }
  const messages: Message[] = [];
  for (const item of items) {
    yield;
    messages.push(read(item, list.message));
  }
  return split.count === undefined ? message : withItems(message, list, messages);
}

/** Fields of the request in one piece: about a fifth of a millisecond. */
const fieldsAtOnce = 2000;

/** What nobody looks at is not kept: each field of it would be an object. */
const known = { readUnknownFields: false } as const;

function* decodeBinary(payload: Uint8Array, { input }: DescMethod): Generator<void, Message> {
  const list = listOf(input);
  const { maximum } = boundsOfList(list);
  const reader = new BinaryReader(payload);
  const items: Uint8Array[] = [];
  const rest: Uint8Array[] = [];
  let restBytes = 0;
  let groups = 0;
  let count = 0;
  for (let fields = 1; reader.pos < reader.len; fields++) {
    if (fields % fieldsAtOnce === 0) {
      yield;
    }
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    if (groups === 0 && number === list.number && wireType === WireType.LengthDelimited) {
      const item = reader.bytes();
      if (++count <= maximum) {
        items.push(item);
      }
    } else {
      // A group is skipped field by field: it may be as long as the message.
      if (wireType === WireType.StartGroup) {
        groups++;
      } else if (wireType === WireType.EndGroup) {
        groups--;
      } else {
        reader.skip(wireType, number);
      }
      rest.push(payload.subarray(start, reader.pos));
      restBytes += reader.pos - start;
      refuseLongParts(list.name, { length: restBytes }, []);
    }
  }
  const frame = Buffer.concat(rest);
  refuseLongParts(list.name, frame, items);
  const message = fromBinary(input, frame, known);
  if (count > maximum) {
    return withItems(message, list, emptyItems(list, count));
  }
  const messages: Message[] = [];
  for (const item of items) {
    yield;
    messages.push(fromBinary(list.message, item, known));
  }
  return withItems(message, list, messages);
}

type MessageList = Extract<DescField, { fieldKind: "list"; listKind: "message" }>;

/** What stands for items that are too many: they are counted, and not looked at. */
function emptyItems({ message }: MessageList, count: number): readonly Message[] {
  return new Array<Message>(count).fill(create(message));
}

function withItems(message: Message, { localName }: MessageList, items: readonly Message[]): Message {
  (message as Message & Record<string, unknown>)[localName] = items;
  return message;
}

function listOf({ fields, typeName }: DescMessage): MessageList {
  const list = fields.find((field) => field.fieldKind === "list" && field.listKind === "message");
  if (list === undefined) {
    throw new Error(`${typeName} has no list of messages`);
  }
  return list as MessageList;
}
