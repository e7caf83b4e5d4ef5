import type { ServerResponse } from "node:http";
import type { ErrorCode } from "../../errors/catalogue.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { NodeResponse } from "../../http/message.ts";
import type { RequestOutcome } from "../../request/context.ts";
import type { Plain } from "./caller.ts";

/** Error codes of JSON-RPC. */
export const notJson = -32700;
export const invalidRequest = -32600;
const invalidParams = -32602;

/** The error for the log and the error quota if the SDK has refused a message. */
export function noMessage(code: ErrorCode): KibitzError {
  return new KibitzError(code, "The message is none that the protocol knows.");
}

/** Why a message is refused, as JSON-RPC says it. */
export interface RefusedMessage {
  readonly code: number;
  readonly text: string;
  /** The id of the message; unset if none was read, or if it is too long to be sent back. */
  readonly id?: string | number;
}

/** The answer to a message that is refused. Without an id, JSON-RPC requires null. */
export function refusedAnswer({ code, text, id = null as never }: RefusedMessage) {
  return { jsonrpc: "2.0" as const, id, error: { code, message: text } };
}

/** The longest id or progress token, in characters: an answer repeats the id once, and the token with each progress. */
const echoedMaxCharacters = 256;

/** Refuses a message whose id or progress token is too long; undefined for all others. */
export function refusalOfLongId({ id, params }: Plain): RefusedMessage | undefined {
  const tooLong = (name: string, value: unknown) =>
    typeof value === "string" && value.length > echoedMaxCharacters
      ? `${name} must have at most ${echoedMaxCharacters} characters, not ${value.length}.`
      : undefined;
  const longId = tooLong("The id of a request", id);
  if (longId !== undefined) {
    return { code: invalidRequest, text: longId };
  }
  const { progressToken } = Object(Object(params)._meta) as Plain;
  const longToken = tooLong("`params._meta.progressToken`", progressToken);
  const known = typeof id === "string" || typeof id === "number" ? { id } : {};
  return longToken === undefined ? undefined : { code: invalidParams, text: longToken, ...known };
}

/** Answers a message that cannot be read. */
export function sendRefused(
  res: NodeResponse,
  refused: RefusedMessage,
  { answerHeaders }: RequestOutcome,
): void {
  const bytes = Buffer.from(`${JSON.stringify(refusedAnswer(refused))}\n`);
  res.statusCode = 400;
  for (const [name, value] of answerHeaders) {
    res.setHeader(name, value);
  }
  res.setHeader("Content-Type", "application/json");
  res.setHeader("Content-Length", String(bytes.length));
  res.setHeader("Cache-Control", "no-store");
  (res as ServerResponse).end(bytes);
}
