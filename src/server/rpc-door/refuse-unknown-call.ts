import type { ConnectError } from "@connectrpc/connect";
import { endStreamFlag, errorToJson } from "@connectrpc/connect/protocol-connect";
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
 * Refuses a call that no service has in the protocol of the caller, so that its library says which call is
 * missing, and not that the answer cannot be read. `false` where the request is no RPC client's.
 *
 * @param explain makes the RPC error of it, with the details that every error has
 */
export function refuseUnknownCall(
  req: NodeRequest,
  res: NodeResponse,
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
  ending.code = "unimplemented";
  const detail = `${echo(pathOf(req).slice(1))} is not a method of this service.`;
  const error = explain(new KibitzError("unimplemented", detail), requestId);
  const { status, headers, body } = door === "connect" ? connectAnswer(type, error) : grpcAnswer(type, error);
  res.statusCode = status;
  res.setHeader("X-Request-Id", requestId);
  for (const [name, value] of Object.entries(headers)) {
    res.setHeader(name, value);
  }
  endBeforeBody(req, res, body);
  return true;
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

/** Connect's protocol gives unimplemented the status 501; but streams are always 200, and end with the error. */
function connectAnswer(type: string, unimplemented: ConnectError): Answer {
  const error = errorToJson(unimplemented, undefined);
  if (!type.startsWith("application/connect+")) {
    const headers = { "Content-Type": "application/json" };
    return { status: 501, headers, body: Buffer.from(JSON.stringify(error)) };
  }
  const end = Buffer.from(JSON.stringify({ error }));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt8(endStreamFlag, 0);
  envelope.writeUInt32BE(end.length, 1);
  return { status: 200, headers: { "Content-Type": type }, body: Buffer.concat([envelope, end]) };
}
