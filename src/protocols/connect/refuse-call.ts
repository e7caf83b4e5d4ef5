/**
 * What is refused outside of Connect's handlers, or by them without a word: calls in the protocol of the caller, the
 * rest as problem documents.
 */

import type { ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, endStreamFlag, errorToJson } from "@connectrpc/connect/protocol-connect";
import { headerGrpcMessage, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { KibitzError } from "../../errors/errors.ts";
import { endBeforeBody } from "../../http/lingering-close.ts";
import type { NodeRequest, NodeResponse } from "../../http/message.ts";
import { contextOf, mediaTypeOf, outcomeOf, rpcType } from "../../request/context.ts";
import { echo, grpcMessage } from "../../text/plain-text.ts";

/**
 * Refuses a call before any service sees it, in the protocol of the caller, so that its library says what is wrong, and
 * not that the answer cannot be read. `false` where the request is no RPC client's.
 *
 * @param explain makes the RPC error of it, with the details that every error has
 */
export function refuseCall(
  req: NodeRequest,
  res: NodeResponse,
  error: KibitzError,
  explain: (error: KibitzError, requestId: string) => ConnectError,
): boolean {
  const { id: requestId, protocol } = contextOf(req);
  const type = mediaTypeOf(req.headers);
  const isCall =
    protocol !== "json" && protocol !== "mcp" && (rpcType.test(type) || type === "application/json");
  if (req.method !== "POST" || !isCall) {
    return false;
  }
  const outcome = outcomeOf(req);
  outcome.code = error.code;
  const explained = explain(error, requestId);
  const answer = protocol === "connect" ? connectResponse(type, explained) : grpcResponse(type, explained);
  res.statusCode = answer.status;
  for (const [name, value] of [
    ...outcome.answerHeaders,
    ...explained.metadata,
    ...Object.entries(answer.headers),
  ]) {
    res.setHeader(name, value);
  }
  endBeforeBody(req, res, answer.body);
  return true;
}

/** {@link refuseCall} for an unknown method, which Connect answers with an empty 404 in no protocol. */
export function refuseUnknownCall(
  req: NodeRequest,
  res: NodeResponse,
  explain: (error: KibitzError, requestId: string) => ConnectError,
): boolean {
  return refuseCall(req, res, unknownMethod(req), explain);
}

export function unknownMethod(req: NodeRequest): KibitzError {
  return new KibitzError(
    "unimplemented",
    `${echo(contextOf(req).path.slice(1))} is not a method of this service.`,
  );
}

interface RefusalResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Header fields that end the stream are gRPC's Trailers-Only. */
function grpcResponse(type: string, error: ConnectError): RefusalResponse {
  const trailers = setTrailerStatus(new Headers(), error);
  // Connect escapes the message as a URI component.
  trailers.set(headerGrpcMessage, grpcMessage(error.rawMessage));
  return { status: 200, headers: { "Content-Type": type, ...Object.fromEntries(trailers) } };
}

/** Connect's protocol has a status for each code; but streams are always 200, and end with the error. */
function connectResponse(type: string, refusal: ConnectError): RefusalResponse {
  const error = errorToJson(refusal, undefined);
  if (!type.startsWith("application/connect+")) {
    const headers = { "Content-Type": "application/json" };
    return { status: codeToHttpStatus(refusal.code), headers, body: Buffer.from(JSON.stringify(error)) };
  }
  const end = Buffer.from(JSON.stringify({ error }));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt8(endStreamFlag, 0);
  envelope.writeUInt32BE(end.length, 1);
  return { status: 200, headers: { "Content-Type": type }, body: Buffer.concat([envelope, end]) };
}

const unaryTypes = ["application/json", "application/proto"];
const streamTypes = ["application/connect+json", "application/connect+proto"];
const grpcTypes = ["application/grpc-web", "application/grpc"];

/** An error, and what its answer says beside it. */
export interface Refusal {
  readonly error: KibitzError;
  readonly headers: readonly (readonly [string, string])[];
}

/**
 * The error of a call that Connect's handler refused with an empty body; `undefined` if it did not.
 */
export function refusalFromReply(
  reply: UniversalServerResponse,
  handler: UniversalHandler,
  req: NodeRequest,
): Refusal | undefined {
  if (reply.body !== undefined) {
    return undefined;
  }
  const { name, methodKind } = handler.method;
  // Connect claims to allow GET for streams without side effects, and then refuses it.
  const methods = methodKind === "unary" ? handler.allowedMethods : ["POST"];
  if (reply.status === 405 || !methods.includes(req.method ?? "")) {
    const error = new KibitzError(
      "method_not_allowed",
      `${name} must be called with ${methods.join(" or ")}.`,
    );
    return { error, headers: [["Allow", methods.join(", ")]] };
  }
  if (req.method === "GET" && reply.status === 415) {
    return { error: new KibitzError("malformed_http", unreadableQuery(name, req)), headers: [] };
  }
  if (reply.status === 415) {
    const types = [...(methodKind === "unary" ? unaryTypes : streamTypes), ...grpcTypes];
    const accepted = types.filter((type) => handler.supportedContentType(type));
    const detail = `${name} does not accept this type of body. Add the header Content-Type: ${accepted[0]}.`;
    const error = new KibitzError("unsupported_media_type", detail);
    return { error, headers: [["Accept-Post", accepted.join(", ")]] };
  }
  if (reply.status === 505) {
    const error = new KibitzError(
      "malformed_http",
      `${name} streams in both directions, which requires HTTP/2.`,
    );
    // Its client may wait for an answer before it ends its request.
    return { error, headers: [["Connection", "close"]] };
  }
  return undefined;
}

/** What a GET lacks of its query. */
function unreadableQuery(name: string, { url = "" }: NodeRequest): string {
  const query = new URLSearchParams(url.split("?", 2)[1]);
  const missing = ["encoding", "message"].filter((parameter) => !query.has(parameter));
  const needed = `${name} by GET needs the query ?encoding=json&message={…}, with the JSON URL-encoded`;
  if (missing.length === 0) {
    return `${needed}: \`encoding\` must be json or proto, not "${echo(query.get("encoding") ?? "")}".`;
  }
  const names = missing.map((parameter) => `\`${parameter}\``).join(" and ");
  return `${needed}: ${names} ${missing.length > 1 ? "are" : "is"} missing.`;
}
