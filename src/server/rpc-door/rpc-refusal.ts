import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";
import type { NodeRequest } from "../node-message.ts";

const unaryTypes = ["application/json", "application/proto"];
const streamTypes = ["application/connect+json", "application/connect+proto"];
const grpcTypes = ["application/grpc-web", "application/grpc"];

/** An error, and what its answer says beside it. */
export interface Refusal {
  readonly error: KibitzError;
  readonly headers: readonly (readonly [string, string])[];
}

/** What Connect's handler refused without a body, for a problem document to say; `undefined` where it did not. */
export function refusalFromReply(
  reply: UniversalServerResponse,
  handler: UniversalHandler,
  req: NodeRequest,
): Refusal | undefined {
  if (reply.body !== undefined) {
    return undefined;
  }
  const { name, methodKind } = handler.method;
  // Connect counts GET in for streams without side effects, too, and then refuses it.
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
