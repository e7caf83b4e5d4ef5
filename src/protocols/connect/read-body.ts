import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, encodeEnvelope, readAllBytes } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { rpcMaxBytesOf } from "../../calls/policy.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { BodyBudget, CountBytes } from "../../http/body-budget.ts";
import { hasArrived, type NodeRequest } from "../../http/message.ts";
import { CallerLeft, contextOf, outcomeOf } from "../../request/context.ts";
import { connectErrorFrom } from "./errors.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** Flags and length before a message. */
const headBytes = 5;

interface BodyReader {
  /** The limit for a message, before and after it is unpacked. */
  readonly maxBytes: number;
  readonly isPacked: boolean;
  readonly inflate: (packed: Uint8Array) => Promise<Uint8Array>;
  readonly check: (message: Uint8Array) => Promise<void>;
}

/**
 * The body of a call, unpacked: its header fields then say that nothing is packed. Connect decodes each message in one go.
 *
 * @param check called with each message before Connect decodes it
 */
export function readBody(
  req: NodeRequest,
  method: DescMethod,
  header: Headers,
  bodies: BodyBudget,
  check: (message: Uint8Array) => Promise<void>,
): Bytes {
  const request = contextOf(req);
  const outcome = outcomeOf(req);
  const maxBytes = rpcMaxBytesOf(method);
  const count = bodies.countOf(request, outcome);
  const inflate = (packed: Uint8Array) =>
    bodies.inflate(packed, () => compressionGzip.decompress(packed, maxBytes), { outcome, count });
  const sent = partsOf(req, (bytes) => {
    count(bytes);
    outcome.readBytes += bytes;
  });
  const name = encodingHeaderOf(header.get("content-type") ?? "");
  const reader = { maxBytes, isPacked: header.get(name) === compressionGzip.name, inflate, check };
  if (name !== "content-encoding") {
    return withOwnErrors(readMessages(method, sent, reader), request.id);
  }
  const sentBytes = Number(header.get("content-length"));
  if (reader.isPacked) {
    header.delete("content-length");
    header.delete(name);
    // Without it, the answer is packed as the request was.
    header.set("accept-encoding", header.get("accept-encoding") ?? compressionGzip.name);
  }
  return withOwnErrors(readWhole(sentBytes, sent, reader), request.id);
}

/** @throws CallerLeft if the body does not arrive whole, because its client has disconnected or was too slow; what `count` throws */
async function* partsOf(req: NodeRequest, count: CountBytes): Bytes {
  try {
    // By default, the iterator destroys the request: after a body that is too large, the connection would never answer again.
    for await (const part of req.iterator({ destroyOnReturn: false })) {
      count(part.length);
      yield part;
    }
  } catch (error) {
    throw error instanceof KibitzError ? error : new CallerLeft();
  }
  if (!hasArrived(req)) {
    throw new CallerLeft();
  }
}

/** The header field that names the coding of messages. Without a protocol of streams, the body is one message. */
function encodingHeaderOf(type: string): string {
  if (/^application\/grpc\b/i.test(type)) {
    return "grpc-encoding";
  }
  return /^application\/connect\b/i.test(type) ? "connect-content-encoding" : "content-encoding";
}

/** Gives errors their codes and details. Connect would take a client that disconnects for a failure of the server. */
async function* withOwnErrors(body: Bytes, requestId: string): Bytes {
  try {
    yield* body;
  } catch (thrown) {
    throw connectErrorFrom(thrown, requestId);
  }
}

async function* readWhole(
  sentBytes: number,
  body: Bytes,
  { maxBytes, isPacked, inflate, check }: BodyReader,
): Bytes {
  refuseLarge(sentBytes, maxBytes);
  const sent = await readAllBytes(body, maxBytes);
  const message = isPacked ? await inflate(sent) : sent;
  await check(message);
  yield message;
}

async function* readMessages(
  { name, methodKind }: DescMethod,
  body: Bytes,
  { maxBytes, isPacked, inflate, check }: BodyReader,
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
