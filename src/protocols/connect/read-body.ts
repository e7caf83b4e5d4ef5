import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, encodeEnvelope, readAllBytes } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";

type Bytes = AsyncIterable<Uint8Array>;

/** Flags and length before a message. */
const headBytes = 5;

interface BodyReaderOptions {
  /** The limit for a message, before and after it is unpacked. */
  readonly maxBytes: number;
  /** Unpacks a message. Rejects with a ConnectError */
  readonly inflate: (packed: Uint8Array) => Promise<Uint8Array>;
  /** Called with each message before Connect decodes it. Rejects with a ConnectError */
  readonly check: (message: Uint8Array) => Promise<void>;
}

/** The body of a call, unpacked: its header fields then say that nothing is packed. Connect decodes each message in one go. */
export function readBody(
  method: DescMethod,
  header: Headers,
  body: Bytes,
  options: BodyReaderOptions,
): Bytes {
  const type = header.get("content-type") ?? "";
  if (/^application\/(grpc|connect)\b/i.test(type)) {
    const encoding = header.get(/grpc/i.test(type) ? "grpc-encoding" : "connect-content-encoding");
    return readMessages(method, encoding === compressionGzip.name, body, options);
  }
  const sentBytes = Number(header.get("content-length"));
  const isPacked = header.get("content-encoding") === compressionGzip.name;
  if (isPacked) {
    header.delete("content-length");
    header.delete("content-encoding");
    // Without it, the answer is packed as the request was.
    header.set("accept-encoding", header.get("accept-encoding") ?? compressionGzip.name);
  }
  return readWhole(isPacked, sentBytes, body, options);
}

async function* readWhole(
  isPacked: boolean,
  sentBytes: number,
  body: Bytes,
  { maxBytes, inflate, check }: BodyReaderOptions,
): Bytes {
  refuseLarge(sentBytes, maxBytes);
  const sent = await readAllBytes(body, maxBytes);
  const message = isPacked ? await inflate(sent) : sent;
  await check(message);
  yield message;
}

async function* readMessages(
  { name, methodKind }: DescMethod,
  isPacked: boolean,
  body: Bytes,
  { maxBytes, inflate, check }: BodyReaderOptions,
): Bytes {
  let count = 0;
  for await (const envelope of envelopesOf(body, maxBytes)) {
    const flags = envelope.readUInt8(0);
    // Other flags mark the end of a stream.
    if (flags <= compressedFlag && ++count > 1 && methodKind !== "bidi_streaming") {
      // In the words of Connect, which would decode the second message first.
      const text = `protocol error: received extra input message for ${name} method`;
      throw new ConnectError(text, Code.Unimplemented);
    }
    const sent = envelope.subarray(headBytes);
    if ((flags & compressedFlag) === 0) {
      await check(sent);
      yield envelope;
    } else if (isPacked) {
      const message = await inflate(sent);
      await check(message);
      yield encodeEnvelope(flags & ~compressedFlag, message);
    } else {
      // No header field names the compression: Connect refuses the message undecoded.
      yield envelope;
    }
  }
}

/** Each message with its head. */
async function* envelopesOf(body: Bytes, maxBytes: number): AsyncGenerator<Buffer> {
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
      const messageBytes = bytes.readUInt32BE(1);
      refuseLarge(messageBytes, maxBytes);
      end = headBytes + messageBytes;
      if (bytes.length < end) {
        break;
      }
      yield bytes.subarray(0, end);
      bytes = bytes.subarray(end);
      end = headBytes;
    }
    chunks = [bytes];
    length = bytes.length;
  }
  if (length > 0) {
    throw new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
  }
}

/** @throws ConnectError in Connect's words for it */
function refuseLarge(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) {
    const text = `message is larger than configured readMaxBytes ${maxBytes}`;
    throw new ConnectError(text, Code.ResourceExhausted);
  }
}
