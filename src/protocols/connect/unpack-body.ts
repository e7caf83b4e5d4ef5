import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, encodingOf, requestCompression } from "./compressions.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** Flags and length before a message. */
export const headBytes = 5;

/**
 * The body of a call, unpacked: Connect inflates nothing, and its headers say so. What is cut off, or too large by the length
 * before it, is handed on for Connect to refuse.
 *
 * @param maxBytes of a message, before it is unpacked
 * @param inflate unpacks what has arrived whole. Rejects with a ConnectError
 */
export function unpackBody(
  header: Headers,
  body: Bytes,
  maxBytes: number,
  inflate: (packed: Uint8Array) => Promise<Uint8Array>,
): Bytes {
  const { isOfBody, name, nameHeader, acceptHeader } = encodingOf(header);
  if (name !== requestCompression.name) {
    return body;
  }
  if (!isOfBody) {
    return unpackMessages(body, maxBytes, inflate);
  }
  const sentBytes = Number(header.get("content-length"));
  header.delete("content-length");
  header.delete(nameHeader);
  // Without it, the answer is packed as the request was.
  header.set(acceptHeader, header.get(acceptHeader) ?? name);
  return unpackWhole(body, sentBytes, maxBytes, inflate);
}

async function* unpackWhole(
  body: Bytes,
  sentBytes: number,
  maxBytes: number,
  inflate: (packed: Uint8Array) => Promise<Uint8Array>,
): Bytes {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const refuseLarge = (bytes: number) => {
    if (bytes > maxBytes) {
      const text = `message is larger than configured readMaxBytes ${maxBytes}`;
      throw new ConnectError(text, Code.ResourceExhausted);
    }
  };
  refuseLarge(sentBytes);
  for await (const chunk of body) {
    length += chunk.length;
    refuseLarge(length);
    chunks.push(chunk);
  }
  yield await inflate(Buffer.concat(chunks));
}

async function* unpackMessages(
  body: Bytes,
  maxBytes: number,
  inflate: (packed: Uint8Array) => Promise<Uint8Array>,
): Bytes {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let end = headBytes;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length < end) {
      continue;
    }
    let bytes = Buffer.concat(chunks);
    while (bytes.length >= headBytes) {
      end = headBytes + bytes.readUInt32BE(1);
      if (end > headBytes + maxBytes) {
        yield bytes.subarray(0, headBytes);
        return;
      }
      if (bytes.length < end) {
        break;
      }
      const flags = bytes.readUInt8(0);
      const sent = bytes.subarray(headBytes, end);
      yield flags & compressedFlag
        ? envelopeOf(flags & ~compressedFlag, await inflate(sent))
        : bytes.subarray(0, end);
      bytes = bytes.subarray(end);
      end = headBytes;
    }
    chunks = [bytes];
    length = bytes.length;
  }
  yield* chunks;
}

/** A message behind its flags and length. */
export function envelopeOf(flags: number, message: Uint8Array): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
