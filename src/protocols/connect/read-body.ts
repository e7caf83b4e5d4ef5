import type { DescMethod } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { jsonFromBytes } from "../../calls/bound-request.ts";
import { rpcMaxBytesOf } from "../../calls/policy.ts";
import { KibitzError } from "../../errors/errors.ts";
import { type BodyBudget, type CountBytes, readBytes, refuseManyParts } from "../../http/body-budget.ts";
import { hasArrived, type NodeRequest } from "../../http/message.ts";
import { ClientDisconnected, contextOf, outcomeOf } from "../../request/context.ts";
import { connectErrorFrom } from "./errors.ts";

/** The number of bytes before a message in the body: one byte for flags and four bytes for the length. */
const headBytes = 5;

/** Returns the body of a call after decompression and checks. `query` contains the message of a GET request. */
export function readBody(
  req: NodeRequest,
  method: DescMethod,
  header: Headers,
  bodies: BodyBudget,
  check: (message: Uint8Array) => Promise<void>,
  query?: URLSearchParams,
): AsyncIterable<Uint8Array> {
  if (query) {
    header.delete("content-length");
    header.set("content-type", `application/${query.get("encoding")}`);
    header.set("content-encoding", query.get("compression") ?? "identity");
  }
  const outcome = outcomeOf(req);
  const { id } = contextOf(req);
  const countBody = bodies.countOf(contextOf(req), outcome);
  const count = (bytes: number) => {
    countBody(bytes);
    outcome.readBytes += bytes;
  };
  if (method.methodKind === "bidi_streaming") {
    // Only reflection has a stream of requests. These messages are short, so they are not checked.
    return withOwnErrors(partsOf(req, count), id);
  }
  const maxBytes = rpcMaxBytesOf(method);
  const field = encodingHeaderOf(header.get("content-type") ?? "");
  const isPacked = header.get(field) === compressionGzip.name;
  const sentBytes = Number(header.get("content-length"));

  const inflate = (packed: Uint8Array) =>
    bodies.inflate(packed, () => compressionGzip.decompress(packed, maxBytes), { outcome, count: countBody });

  async function readAll(limit: number): Promise<Buffer> {
    const sent = sentBytes > limit ? undefined : await readBytes(req, limit, count);
    if (sent === undefined) {
      // Connect has the same text for this error.
      const text = `message is larger than configured readMaxBytes ${maxBytes}`;
      throw new ConnectError(text, Code.ResourceExhausted);
    }
    return sent;
  }

  const isJson = /[/+]json\b/i.test(header.get("content-type") ?? "");

  /** Plain JSON must be UTF-8 too. Connect would decode other bytes to a different text. */
  async function checked(message: Uint8Array): Promise<Uint8Array> {
    const sound = isJson ? Buffer.from(jsonFromBytes(message)) : message;
    await check(sound);
    return sound;
  }

  async function* readMessage() {
    const sent = query ? messageOfQuery(query) : await readAll(maxBytes);
    const message = isPacked ? await inflate(sent) : sent;
    yield await checked(message);
  }

  async function* readEnvelope() {
    const sent = await readAll(maxBytes + headBytes);
    const end = sent.length < headBytes ? Number.POSITIVE_INFINITY : headBytes + sent.readUInt32BE(1);
    if (sent.length > end) {
      // Connect has the same text for this error, but Connect would decode the second message before the error.
      const text = `protocol error: received extra input message for ${method.name} method`;
      throw new ConnectError(text, Code.Unimplemented);
    }
    const flags = sent[0] ?? 0;
    const isCompressed = (flags & compressedFlag) !== 0;
    if (sent.length < end || (isCompressed && !isPacked)) {
      yield sent;
      return;
    }
    const packed = sent.subarray(headBytes);
    const message = await checked(isCompressed ? await inflate(packed) : packed);
    yield encodeEnvelope(flags & ~compressedFlag, message);
  }

  if (field !== "content-encoding") {
    return withOwnErrors(readEnvelope(), id);
  }
  if (isPacked) {
    header.delete("content-length");
    header.delete(field);
    // Without this header, Connect would compress the answer if the request was compressed.
    header.set("accept-encoding", header.get("accept-encoding") ?? compressionGzip.name);
  }
  return withOwnErrors(readMessage(), id);
}

/** Throws a KibitzError for invalid base64. Connect would report this error as a failure of the server. */
function messageOfQuery(query: URLSearchParams): Uint8Array {
  const message = query.get("message") ?? "";
  if (query.get("base64") !== "1") {
    return Buffer.from(message);
  }
  try {
    return base64Decode(message);
  } catch (cause) {
    const text = "The query says base64=1, but `message` is not valid base64.";
    throw new KibitzError("malformed_http", text, { cause });
  }
}

/** If a message has no envelope, the message is the complete body, and its header is `content-encoding`. */
function encodingHeaderOf(type: string): string {
  if (/^application\/grpc\b/i.test(type)) {
    return "grpc-encoding";
  }
  return /^application\/connect\b/i.test(type) ? "connect-content-encoding" : "content-encoding";
}

/** Converts all errors to errors of Connect. Otherwise Connect would report a disconnect as a failure of the server. */
async function* withOwnErrors(body: AsyncIterable<Uint8Array>, requestId: string): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (thrown) {
    throw connectErrorFrom(thrown, requestId);
  }
}

/** Yields the parts of a body. Throws ClientDisconnected if the client disconnects before the end of the body. */
async function* partsOf(req: NodeRequest, count: CountBytes): AsyncIterable<Uint8Array> {
  try {
    // By default, leaving this loop destroys the request, and its connection would never answer again.
    for await (const part of req.iterator({ destroyOnReturn: false })) {
      refuseManyParts(req);
      count(part.length);
      yield part;
    }
  } catch (error) {
    // Only an error of the stream, which has a code, means that the client has disconnected.
    const isOfStream = error instanceof Error && !(error instanceof KibitzError) && "code" in error;
    throw isOfStream ? new ClientDisconnected() : error;
  }
  if (!hasArrived(req)) {
    throw new ClientDisconnected();
  }
}
