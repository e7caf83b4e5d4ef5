import type { ConnectError } from "@connectrpc/connect";
import {
  encodeEnvelope,
  type UniversalHandler,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { codeToHttpStatus, endStreamFlag, errorToJson } from "@connectrpc/connect/protocol-connect";
import { headerGrpcMessage, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { KibitzError } from "../../errors/errors.ts";
import { endBeforeBody } from "../../http/lingering-close.ts";
import type { NodeRequest, NodeResponse } from "../../http/message.ts";
import { contextOf, mediaTypeOf, outcomeOf, rpcType } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import { connectErrorFrom } from "./errors.ts";
import { grpcMessage } from "./grpc-message.ts";

/** Sends an error in the protocol of the client. Returns false if the request is not an RPC. */
export function refuseCall(req: NodeRequest, res: NodeResponse, error: KibitzError): boolean {
  const { id: requestId, protocol } = contextOf(req);
  const type = mediaTypeOf(req.headers);
  const isCall =
    protocol !== "json" && protocol !== "mcp" && (rpcType.test(type) || type === "application/json");
  if (req.method !== "POST" || !isCall) {
    return false;
  }
  const outcome = outcomeOf(req);
  outcome.code = error.code;
  const explained = connectErrorFrom(error, requestId);
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

/** Returns an error for a call of an unknown method. Connect would send an empty response with the status 404. */
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

/** Returns a Trailers-Only response of gRPC. Such a response has headers and no body. */
function grpcResponse(type: string, error: ConnectError): RefusalResponse {
  const trailers = setTrailerStatus(new Headers(), error);
  // `setTrailerStatus` escapes the message as a URI component. Replace this wrong text.
  trailers.set(headerGrpcMessage, grpcMessage(error.rawMessage));
  return { status: 200, headers: { "Content-Type": type, ...Object.fromEntries(trailers) } };
}

/** The response to a unary call has the status of the error. A stream has the status 200, and its last message is the error. */
function connectResponse(type: string, refusal: ConnectError): RefusalResponse {
  const error = errorToJson(refusal, undefined);
  if (!type.startsWith("application/connect+")) {
    const headers = { "Content-Type": "application/json" };
    return { status: codeToHttpStatus(refusal.code), headers, body: Buffer.from(JSON.stringify(error)) };
  }
  const end = Buffer.from(JSON.stringify({ error }));
  return {
    status: 200,
    headers: { "Content-Type": type },
    body: Buffer.from(encodeEnvelope(endStreamFlag, end)),
  };
}

const unaryTypes = ["application/json", "application/proto"];
const streamTypes = ["application/connect+json", "application/connect+proto"];
const grpcWebTypes = ["application/grpc-web", "application/grpc-web+proto", "application/grpc-web+json"];
const grpcTypes = ["application/grpc-web", "application/grpc"];

export interface Refusal {
  readonly error: KibitzError;
  readonly headers: readonly (readonly [string, string])[];
}

/** Explains a rejection if Connect's handler has rejected the call with an empty body. Otherwise returns undefined. */
export function refusalFromReply(
  reply: UniversalServerResponse,
  handler: UniversalHandler,
  req: NodeRequest,
): Refusal | undefined {
  if (reply.body !== undefined) {
    return undefined;
  }
  const { name, methodKind } = handler.method;
  const methods = methodsOf(handler);
  if (reply.status === 405 || !methods.includes(req.method ?? "")) {
    const error = new KibitzError(
      "method_not_allowed",
      `${name} must be called with ${methods.join(" or ")}.`,
    );
    return { error, headers: [["Allow", methods.join(", ")]] };
  }
  if (reply.status === 415) {
    const types = [...(methodKind === "unary" ? unaryTypes : streamTypes), ...grpcTypes];
    const accepted = types.filter((type) => handler.supportedContentType(type));
    const isWeb = contextOf(req).protocol === "grpc-web";
    const advice = isWeb
      ? `gRPC-Web is served as ${grpcWebTypes.join(" and ")}.`
      : `Add the header Content-Type: ${accepted[0]}.`;
    const detail = `${name} does not accept this type of body. ${advice}`;
    const error = new KibitzError("unsupported_media_type", detail);
    return { error, headers: [["Accept-Post", accepted.join(", ")]] };
  }
  if (reply.status === 505) {
    const error = new KibitzError(
      "malformed_http",
      `${name} streams in both directions, which requires HTTP/2.`,
    );
    // Close the connection, because the client may wait for an answer before it ends its request.
    return { error, headers: [["Connection", "close"]] };
  }
  return undefined;
}

/** Returns the supported HTTP methods. Connect lists GET for streams without side effects, but rejects such requests. */
export function methodsOf({ method, allowedMethods }: UniversalHandler): readonly string[] {
  return method.methodKind === "unary" ? allowedMethods : ["POST"];
}

/** Returns an error if the parameter `encoding` is missing or unknown. Otherwise returns undefined. */
export function refusalOfQuery({ method }: UniversalHandler, query: URLSearchParams): Refusal | undefined {
  const isReadable = ["json", "proto"].includes(query.get("encoding") ?? "");
  return isReadable
    ? undefined
    : { error: new KibitzError("malformed_http", unreadableQuery(method.name, query)), headers: [] };
}

function unreadableQuery(name: string, query: URLSearchParams): string {
  const missing = ["encoding", "message"].filter((parameter) => !query.has(parameter));
  const needed = `${name} by GET needs the query ?encoding=json&message={…}, with the JSON URL-encoded`;
  if (missing.length === 0) {
    return `${needed}: \`encoding\` must be json or proto, not ${echo(query.get("encoding") ?? "", '"')}.`;
  }
  const names = missing.map((parameter) => `\`${parameter}\``).join(" and ");
  return `${needed}: ${names} ${missing.length > 1 ? "are" : "is"} missing.`;
}
