/** Bodies on their way to Connect's handlers: those of batches are decoded in their stead, the others are looked through. */

import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues } from "@connectrpc/connect";
import { refuseSpent } from "../../access/entrance.ts";
import type { Limits } from "../../access/limits.ts";
import { accountKey, decodedKey, outcomeKey, requestKey } from "../../calls/context-keys.ts";
import { requestMaxBytes } from "../../calls/policy.ts";
import { KibitzError } from "../../errors/errors.ts";
import { type BeginWork, inTurns } from "../../thread/event-loop.ts";
import { compressedFlag, encodingOf, flagsOf, inflated } from "./compressions.ts";
import { decodeInPieces } from "./decode-batch.ts";
import { connectErrorFrom } from "./errors.ts";
import { refuseLong, refuseManyMembers, telling } from "./look-through.ts";

/** The bytes of a call's request, as they come, and what Connect is to be given of them. */
export type DecodeBody = (
  method: DescMethod,
  header: Headers,
  values: ContextValues,
  body: AsyncIterable<Uint8Array>,
  /** Counts what is unpacked beside what is read. @throws KibitzError where there is no room for it */
  countUnpacked: (bytes: number) => void,
) => AsyncIterable<Uint8Array>;

export interface BodyDecoderOptions {
  /** The methods of batches: their requests are streams of one message, with one list of messages. */
  readonly methods: readonly DescMethod[];
  readonly readMaxBytesOf: (method: DescMethod) => number;
  readonly beginWork: BeginWork;
  readonly limits: Limits;
}

/** Flags and length before a message. */
const headBytes = 5;

/**
 * Decodes the requests of batches item by item, in slices of the thread, and gives Connect an empty message in their
 * stead; its interceptor `connectErrors` puts the decoded one back. Connect decodes a message in one go: a megabyte of
 * JSON with 350,000 empty requests held the thread for 260 ms, before anybody could count them (repair `decodeInPieces`).
 *
 * Of other requests it only refuses those with more keys than any that means something, and those that may be
 * long, where they are for another reason than their texts.
 */
export function createBodyDecoder({
  methods,
  readMaxBytesOf,
  beginWork,
  limits,
}: BodyDecoderOptions): DecodeBody {
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
    const pieces = decodeInPieces(payload, method, json);
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
