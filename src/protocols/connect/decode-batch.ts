/**
 * Requests on their way to Connect's handlers: those of batches are decoded here in their stead, the others are looked
 * through, in bodies and in queries.
 */

import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  fromBinary,
  fromJsonString,
  type Message,
} from "@bufbuild/protobuf";
import { BinaryReader, base64Decode, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type ContextValues, type HandlerContext } from "@connectrpc/connect";
import { refuseSpent } from "../../access/entrance.ts";
import type { Limits } from "../../access/limits.ts";
import { accountKey, decodedKey, outcomeKey, requestKey } from "../../calls/context-keys.ts";
import { refuseLongBinary, refuseLongJson } from "../../calls/long-requests.ts";
import { refuseLongParts, requestMaxBytes } from "../../calls/policy.ts";
import { boundsOfList } from "../../calls/rules.ts";
import { errorFromFaults, KibitzError } from "../../errors/errors.ts";
import { countMembers, membersMax, splitList } from "../../text/json-scan.ts";
import { type BeginWork, inTurns } from "../../thread/event-loop.ts";
import { compressions } from "./compressions.ts";
import { connectErrorFrom } from "./errors.ts";

/** The bytes of a call's request, as they come, and what Connect is to be given of them. */
export type DecodeBody = (
  method: DescMethod,
  header: Headers,
  values: ContextValues,
  body: AsyncIterable<Uint8Array>,
  /** Counts what is unpacked beside what is read. @throws KibitzError where there is no room for it */
  countUnpacked: (bytes: number) => void,
) => AsyncIterable<Uint8Array>;

export interface BatchDecoderOptions {
  /** The methods that it is for: their requests are streams of one message, with one list of messages. */
  readonly methods: readonly DescMethod[];
  readonly readMaxBytesOf: (method: DescMethod) => number;
  readonly beginWork: BeginWork;
  readonly limits: Limits;
}

/** Flags and length before a message. */
const headBytes = 5;
const compressedFlag = 1;

/**
 * Decodes the requests of batches item by item, in slices of the thread, and gives Connect an empty message in their
 * stead; its interceptor `connectErrors` puts the decoded one back. Connect decodes a message in one go: a megabyte of
 * JSON with 350,000 empty requests held the thread for 260 ms, before anybody could count them (repair `decodeInPieces`).
 *
 * Of other requests it only refuses those with more keys than any that means something (repair `refuseManyKeys`), and
 * those that may be long, where they are for another reason than their texts.
 */
export function createBatchDecoder({
  methods,
  readMaxBytesOf,
  beginWork,
  limits,
}: BatchDecoderOptions): DecodeBody {
  return async function* (method, header, values, body, countUnpacked) {
    const { id: requestId } = values.get(requestKey);
    const outcome = values.get(outcomeKey);
    const json = isJson(header);
    const isBatch = methods.includes(method);
    const encoding = encodingOf(header);
    if (encoding.isOfBody || (!json && !isBatch && readMaxBytesOf(method) <= requestMaxBytes)) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) {
        outcome.readBytes += chunk.length;
        if (json) {
          chunks.push(chunk);
        }
        yield chunk;
      }
      // Connect decodes such a body when it has come to its end, which is behind this.
      const { name } = encoding;
      const payload =
        json && (await inflated(Buffer.concat(chunks), flagsOf(name), name, readMaxBytesOf(method)));
      if (payload) {
        outcome.readBytes = payload.length;
        telling(requestId, () => refuseManyMembers(payload, method.input));
      }
      return;
    }
    const maxBytes = readMaxBytesOf(method) + headBytes;
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) {
        // Connect refuses it by the length that stands before the message, and decodes nothing.
        yield Buffer.concat(chunks).subarray(0, headBytes);
        return;
      }
    }
    const bytes = Buffer.concat(chunks);
    const sent = length < headBytes ? 0 : bytes.readUInt32BE(1);
    if (length < headBytes + sent || length < headBytes) {
      // Cut off: Connect says so, and decodes nothing.
      yield bytes;
      return;
    }
    const flags = bytes.readUInt8(0);
    const end = headBytes + sent;
    const payload = await inflated(
      bytes.subarray(headBytes, end),
      flags,
      encoding.name,
      readMaxBytesOf(method),
    );
    const behind = length > end ? bytes.readUInt8(end) : undefined;
    if (payload === undefined) {
      yield bytes;
      return;
    }
    outcome.readBytes = payload.length;
    if (flags & compressedFlag) {
      telling(requestId, () => countUnpacked(payload.length));
    }
    if (!isBatch) {
      telling(requestId, () => refuseLong(payload, method, json));
      yield* withBehind(bytes.subarray(0, end), behind);
      return;
    }
    const turn = beginWork(() => refuseSpent(limits, values.get(accountKey)));
    const pieces = json ? decodeJson(payload, method) : decodeBinary(payload, method);
    try {
      values.set(decodedKey, await inTurns(pieces, turn));
    } catch (thrown) {
      throw thrown instanceof KibitzError ? connectErrorFrom(thrown, requestId) : explained(thrown, json);
    }
    yield* withBehind(envelope(flags & ~compressedFlag, json ? "{}" : ""), behind);
  };
}

/**
 * The message, and what stands for whatever comes behind it. Connect refuses one message more than a call has, but would
 * decode it before: so it is given the same again.
 *
 * @param behind the flags of the second envelope, if there is one. Those that are more than "packed" say that it is no message.
 */
function withBehind(message: Buffer, behind: number | undefined): readonly Buffer[] {
  if (behind === undefined) {
    return [message];
  }
  return [message, behind > compressedFlag ? envelope(behind & ~compressedFlag, "") : message];
}

/** Whether a request of one message says to be JSON. */
function isJson(header: Headers): boolean {
  return /[/+]json\b/i.test(header.get("content-type") ?? "");
}

/** @throws KibitzError where decoding a request would hold the thread: it is decoded in one go, whatever is in it. */
function refuseLong(payload: Uint8Array, { input }: DescMethod, json: boolean): void {
  if (json) {
    refuseLongJson(payload);
    refuseManyMembers(payload, input);
  } else {
    refuseLongBinary(payload);
  }
}

/**
 * Looks through the message in the query of a GET, which Connect reads without asking for a body. What is no base64 it would
 * take for a failure of its own (repair `refuseBrokenBase64`).
 *
 * @throws ConnectError
 */
export async function lookThroughQuery(
  { requestMethod, url, values, method }: HandlerContext,
  maxBytes: number,
): Promise<void> {
  if (requestMethod !== "GET") {
    return;
  }
  const { id: requestId } = values.get(requestKey);
  const query = new URL(url).searchParams;
  const name = query.get("compression");
  const sent = messageOfQuery(query, requestId);
  const payload = await inflated(sent, flagsOf(name), name, maxBytes);
  if (payload) {
    values.get(outcomeKey).readBytes = payload.length;
    if (query.get("encoding") === "json") {
      telling(requestId, () => refuseManyMembers(payload, method.input));
    }
  }
}

function messageOfQuery(query: URLSearchParams, requestId: string): Uint8Array {
  const message = query.get("message") ?? "";
  if (query.get("base64") !== "1") {
    return Buffer.from(message);
  }
  try {
    return base64Decode(message);
  } catch (cause) {
    const text = "The query says base64=1, but `message` is not valid base64.";
    throw connectErrorFrom(new KibitzError("malformed_http", text, { cause }), requestId);
  }
}

/** @throws ConnectError where `look` throws a KibitzError. */
function telling(requestId: string, look: () => void): void {
  try {
    look();
  } catch (thrown) {
    throw thrown instanceof KibitzError ? connectErrorFrom(thrown, requestId) : thrown;
  }
}

/** @throws KibitzError where decoding a request would hold the thread: it is decoded in one go, whatever is in it. */
function refuseManyMembers(payload: Uint8Array, desc: DescMessage): void {
  if (hasManyMembers(Buffer.from(payload).toString("latin1"))) {
    throw manyMembers(desc);
  }
}

/** Whether decoding a request would hold the thread: it is decoded in one go, whatever is in it. */
function hasManyMembers(json: string): boolean {
  return (countMembers(json, Number.POSITIVE_INFINITY) ?? 0) > membersMax;
}

function manyMembers({ typeName }: DescMessage): KibitzError {
  const message = `The message ${typeName} has more than ${membersMax} keys.`;
  return errorFromFaults([{ pointer: "", code: "malformed_json", message }]);
}

/** How a request is packed, by the one header that its protocol has for it: Connect looks at no other. */
function encodingOf(header: Headers): { readonly isOfBody: boolean; readonly name: string | null } {
  const type = header.get("content-type") ?? "";
  const [, protocol] = /^application\/(grpc|connect)\b/i.exec(type) ?? [];
  switch (protocol?.toLowerCase()) {
    case "grpc":
      return { isOfBody: false, name: header.get("grpc-encoding") };
    case "connect":
      return { isOfBody: false, name: header.get("connect-content-encoding") };
    default:
      return { isOfBody: true, name: header.get("content-encoding") };
  }
}

/** What an envelope would say of a message that has none. */
function flagsOf(encoding: string | null): number {
  return encoding === null || encoding === "identity" ? 0 : compressedFlag;
}

/** The message as it was before it was compressed; undefined where Connect is to say what is wrong with it. */
async function inflated(
  data: Uint8Array,
  flags: number,
  encoding: string | null,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if ((flags & compressedFlag) === 0) {
    return data;
  }
  const compression = compressions.find(({ name }) => name === encoding);
  return compression?.decompress(data, maxBytes).catch(() => undefined);
}

/** As Connect says it, for `errorFromConnect`. */
function explained(thrown: unknown, isJson: boolean): ConnectError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return isJson
    ? ConnectError.from(thrown, Code.InvalidArgument)
    : new ConnectError(`parse binary: ${message}`, Code.Internal);
}

function envelope(flags: number, text: string): Buffer {
  const bytes = Buffer.alloc(headBytes + text.length);
  bytes.writeUInt8(flags, 0);
  bytes.writeUInt32BE(text.length, 1);
  bytes.write(text, headBytes);
  return bytes;
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
    if (hasManyMembers(json)) {
      throw manyMembers(desc);
    }
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
