import { callerFromRequest } from "../caller.ts";
import { echo } from "../errors.ts";
import { doorFromRequest } from "./door-from-request.ts";
import { type NodeRequest, type NodeResponse, pathOf } from "./node-message.ts";
import { endBeforeBody } from "./rest-of-body.ts";

/** Media types that only RPC clients send, so that an unknown service, too, is answered in their protocol. */
const rpcType = /^application\/(grpc|proto$|connect\+)/;

/**
 * Refuses a call that no service has in the protocol of the caller, so that its library says which call is
 * missing, and not that the answer cannot be read. `false` where the request is no RPC client's.
 */
export function refuseUnknownCall(req: NodeRequest, res: NodeResponse, serviceIsKnown: boolean): boolean {
  const type = req.headers["content-type"]?.split(";", 1)[0]?.trim() ?? "";
  const isCall = rpcType.test(type) || (serviceIsKnown && type === "application/json");
  if (req.method !== "POST" || !isCall) {
    return false;
  }
  const message = `${echo(pathOf(req).slice(1))} is not a call of this service.`;
  const door = doorFromRequest(req);
  const { status, headers, body } =
    door === "connect" ? connectAnswer(type, message) : grpcAnswer(type, message);
  res.statusCode = status;
  res.setHeader("X-Request-Id", callerFromRequest(req, door).requestId);
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

/**
 * Headers that end the stream are gRPC's Trailers-Only; 12 is unimplemented. gRPC escapes `%` and what is not
 * printable ASCII, and nothing else.
 */
function grpcAnswer(type: string, message: string): Answer {
  const headers = {
    "Content-Type": type,
    "grpc-status": "12",
    "grpc-message": message.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent),
  };
  return { status: 200, headers };
}

/** Connect's protocol gives unimplemented the status 501; but streams are always 200, and end with the error. */
function connectAnswer(type: string, message: string): Answer {
  const error = { code: "unimplemented", message };
  if (!type.startsWith("application/connect+")) {
    const headers = { "Content-Type": "application/json" };
    return { status: 501, headers, body: Buffer.from(JSON.stringify(error)) };
  }
  const end = Buffer.from(JSON.stringify({ error }));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt8(endOfStream, 0);
  envelope.writeUInt32BE(end.length, 1);
  return { status: 200, headers: { "Content-Type": type }, body: Buffer.concat([envelope, end]) };
}

/** Flag of the envelope that ends a stream. */
const endOfStream = 2;
