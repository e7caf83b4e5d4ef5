import type { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, endStreamFlag, errorToJson } from "@connectrpc/connect/protocol-connect";
import { headerGrpcMessage, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { callerFromRequest } from "../../caller.ts";
import { KibitzError } from "../../errors/errors.ts";
import { grpcMessage } from "../../text/grpc-message.ts";
import { echo } from "../../text/plain-text.ts";
import { type NodeRequest, type NodeResponse, pathOf } from "../node-message.ts";
import { endBeforeBody } from "../rest-of-body.ts";
import { doorFromRequest } from "./door-from-request.ts";

/**
 * Media types that only RPC clients send, so that an unknown service, too, is answered in their protocol. The answer
 * has the same type: nothing else that a caller writes there comes back.
 */
const rpcType = /^application\/(grpc(-web(-text)?)?(\+[\w.-]{1,32})?|proto|connect\+[\w.-]{1,32})$/;

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
  serviceIsKnown: boolean,
  explain: (error: KibitzError, requestId: string) => ConnectError,
): boolean {
  const type = req.headers["content-type"]?.split(";", 1)[0]?.trim() ?? "";
  const isCall = rpcType.test(type) || (serviceIsKnown && type === "application/json");
  if (req.method !== "POST" || !isCall) {
    return false;
  }
  const door = doorFromRequest(req);
  const { requestId, ending } = callerFromRequest(req, door);
  ending.code = error.code;
  const explained = explain(error, requestId);
  const answer = door === "connect" ? connectAnswer(type, explained) : grpcAnswer(type, explained);
  res.statusCode = answer.status;
  res.setHeader("X-Request-Id", requestId);
  for (const [name, value] of [...explained.metadata, ...Object.entries(answer.headers)]) {
    res.setHeader(name, value);
  }
  endBeforeBody(req, res, answer.body);
  return true;
}

/** {@link refuseCall} for a call that no service has. */
export function refuseUnknownCall(
  req: NodeRequest,
  res: NodeResponse,
  serviceIsKnown: boolean,
  explain: (error: KibitzError, requestId: string) => ConnectError,
): boolean {
  const detail = `${echo(pathOf(req).slice(1))} is not a method of this service.`;
  return refuseCall(req, res, new KibitzError("unimplemented", detail), serviceIsKnown, explain);
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Headers that end the stream are gRPC's Trailers-Only. */
function grpcAnswer(type: string, error: ConnectError): Answer {
  const trailer = new Headers();
  setTrailerStatus(trailer, error);
  trailer.set(headerGrpcMessage, grpcMessage(error.rawMessage));
  return { status: 200, headers: { "Content-Type": type, ...Object.fromEntries(trailer) } };
}

/** Connect's protocol has a status for each code; but streams are always 200, and end with the error. */
function connectAnswer(type: string, refusal: ConnectError): Answer {
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
