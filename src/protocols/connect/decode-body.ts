/** Bodies on their way to Connect's handlers: those of batches are decoded in their stead, the others are looked through. */

import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues } from "@connectrpc/connect";
import { refuseSpent } from "../../access/entrance.ts";
import type { Limits } from "../../access/limits.ts";
import { requestMaxBytes } from "../../calls/policy.ts";
import { KibitzError } from "../../errors/errors.ts";
import { CallerLeft, refuseLeft } from "../../request/context.ts";
import { type BeginWork, inTurns } from "../../thread/event-loop.ts";
import { compressedFlag, encodingOf } from "./compressions.ts";
import { decodeInPieces } from "./decode-batch.ts";
import { connectErrorFrom } from "./errors.ts";
import { refuseLong, refuseManyMembers, telling } from "./look-through.ts";
import { stateKey } from "./state.ts";
import { envelopeOf, headBytes } from "./unpack-body.ts";

/** The bytes of a call's request, as they come, and what Connect is to be given of them. */
export type DecodeBody = (
  method: DescMethod,
  header: Headers,
  values: ContextValues,
  /** Unpacked. */
  body: AsyncIterable<Uint8Array>,
) => AsyncIterable<Uint8Array>;

export interface BodyDecoderOptions {
  /** The methods of batches: their requests are streams of one message, with one list of messages. */
  readonly methods: readonly DescMethod[];
  readonly readMaxBytesOf: (method: DescMethod) => number;
  readonly beginWork: BeginWork;
  readonly limits: Limits;
}

/**
 * Decodes the requests of batches item by item, in slices of the thread, and gives Connect an empty message in their
 * stead; `handlers` puts the decoded one back. Connect decodes a message in one go: a megabyte of
 * JSON with 350,000 empty requests held the thread for 260 ms, before anybody could count them.
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
  return async function* (method, header, values, body) {
    const state = values.get(stateKey);
    const { outcome } = state;
    const requestId = state.request.id;
    const json = isJson(header);
    const isBatch = methods.includes(method);
    if (encodingOf(header).isOfBody || (!json && !isBatch && readMaxBytesOf(method) <= requestMaxBytes)) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) {
        outcome.readBytes += chunk.length;
        if (json) {
          chunks.push(chunk);
        }
        yield chunk;
      }
      // Connect decodes such a body when it has come to its end, which is behind this.
      if (json) {
        telling(requestId, () => refuseManyMembers(Buffer.concat(chunks), method.input));
      }
      return;
    }
    const bytes = await firstEnvelope(body, readMaxBytesOf(method));
    const end = endOf(bytes);
    if (bytes.length < end) {
      // Too large by the length before the message, or cut off: Connect says so, and decodes nothing.
      yield bytes;
      return;
    }
    const payload = bytes.subarray(headBytes, end);
    const behind = bytes.length > end ? bytes.readUInt8(end) : undefined;
    const flags = bytes.readUInt8(0);
    if (flags & compressedFlag) {
      // No header says what it is packed in, and Connect says so.
      yield bytes;
      return;
    }
    outcome.readBytes = payload.length;
    if (!isBatch) {
      telling(requestId, () => refuseLong(payload, method, json));
      yield* withBehind(bytes.subarray(0, end), behind);
      return;
    }
    const turn = beginWork(() => {
      refuseLeft(outcome);
      refuseSpent(limits, state.account);
    });
    const pieces = decodeInPieces(payload, method, json);
    try {
      state.decoded = await inTurns(pieces, turn);
    } catch (thrown) {
      throw thrown instanceof KibitzError || thrown instanceof CallerLeft
        ? connectErrorFrom(thrown, requestId)
        : explained(thrown, json);
    }
    yield* withBehind(envelopeOf(flags, Buffer.from(json ? "{}" : "")), behind);
  };
}

/** Where the first message ends, by what stands before it. */
function endOf(bytes: Buffer): number {
  return bytes.length < headBytes ? headBytes : headBytes + bytes.readUInt32BE(1);
}

/** The first message with its head, and what has come behind it; its head alone if it is too large. */
async function firstEnvelope(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let end = headBytes;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (end === headBytes && length >= headBytes) {
      const bytes = Buffer.concat(chunks);
      end = endOf(bytes);
      chunks = [bytes];
    }
    if (end > headBytes + maxBytes) {
      return Buffer.concat(chunks).subarray(0, headBytes);
    }
    if (length > end) {
      break;
    }
  }
  return Buffer.concat(chunks);
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
  return [message, behind > compressedFlag ? envelopeOf(behind & ~compressedFlag, Buffer.of()) : message];
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
