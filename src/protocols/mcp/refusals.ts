import type { ServerResponse } from "node:http";
import type { ErrorCode } from "../../errors/catalogue.ts";
import { KibitzError } from "../../errors/errors.ts";
import { headersFromError } from "../../errors/problem.ts";
import type { NodeResponse } from "../../http/message.ts";
import type { RequestOutcome } from "../../request/context.ts";
import { durationText } from "../../text/plain-text.ts";
import type { Plain } from "./caller.ts";
import { errorResult } from "./result.ts";

export const notJson = -32700;
export const invalidRequest = -32600;
const invalidParams = -32602;
const protocolErrors: Partial<Record<ErrorCode, number>> = { malformed_json: notJson };
const methodNotFound = -32601;
const internalError = -32603;

/** What the SDK refuses by the status of its answer. */
export function refusalByStatus(status: number): KibitzError | undefined {
  if (status < 400 || status >= 500) {
    return undefined;
  }
  return noMessage(status === 404 ? "not_found" : status === 406 ? "not_acceptable" : "malformed_http");
}

/** What it refuses by an error in a message, where the answer had begun, or whose status is 200 in the older era. */
export function refusalInPart(part: Uint8Array): KibitzError | undefined {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
  // Of a tool's own errors the member has another name.
  if (!bytes.includes('"error":')) {
    return undefined;
  }
  const code = errorCodeOf(bytes.toString().replace(/^event: message\n(?:id: .*\n)?data: /, ""));
  return code === undefined || code === internalError
    ? undefined
    : noMessage(code === methodNotFound ? "not_found" : "malformed_http");
}

function errorCodeOf(message: string): number | undefined {
  try {
    const { error } = JSON.parse(message) as { readonly error?: { readonly code?: unknown } };
    return typeof error?.code === "number" ? error.code : undefined;
  } catch {
    // Several events, or half of one: the SDK sends none such today, and what cannot be read is not counted.
    return undefined;
  }
}

function noMessage(code: ErrorCode): KibitzError {
  return new KibitzError(code, "The message is none that the protocol knows.");
}

/** Why a message is refused, in words of JSON-RPC. */
export interface RefusedMessage {
  readonly code: number;
  readonly text: string;
  /** Of the message; unset if none was read, or it is too long to be sent back. */
  readonly id?: string | number;
}

/** The answer to a message that is refused: if no id was read, the specification wants null. */
export function refusedAnswer({ code, text, id }: RefusedMessage): Plain {
  return { jsonrpc: "2.0", id: id ?? null, error: { code, message: text } };
}

/** The longest id or progress token, in characters: answers repeat the one once, and the other with each progress. */
const echoedMaxCharacters = 256;

/** Why a message is refused whose id or progress token is too long; undefined for all others. */
export function refusalOfLongId({ id, params }: Plain): RefusedMessage | undefined {
  const tooLong = (name: string, value: unknown) =>
    typeof value === "string" && value.length > echoedMaxCharacters
      ? `${name} must have at most ${echoedMaxCharacters} characters, not ${value.length}.`
      : undefined;
  const longId = tooLong("The id of a request", id);
  if (longId !== undefined) {
    return { code: invalidRequest, text: longId };
  }
  const longToken = tooLong("`params._meta.progressToken`", metaOf(params).progressToken);
  const known = typeof id === "string" || typeof id === "number" ? { id } : {};
  return longToken === undefined ? undefined : { code: invalidParams, text: longToken, ...known };
}

function metaOf(params: unknown): Plain {
  const { _meta: meta } = Object(params) as { readonly _meta?: unknown };
  return Object(meta) as Plain;
}

/** Answers a body that is no message. */
export function sendUnreadable(res: NodeResponse, error: KibitzError, outcome: RequestOutcome): void {
  const code = protocolErrors[error.code] ?? invalidRequest;
  sendRefusedMessage(res, { code, text: error.message }, error, outcome);
}

export function sendRefusedMessage(
  res: NodeResponse,
  refused: RefusedMessage,
  error: KibitzError,
  outcome: RequestOutcome,
): void {
  outcome.code ??= error.code;
  sendJson(res, 400, outcome, refusedAnswer(refused));
}

/**
 * The answer to a call of a tool by somebody who was refused too often: nothing of it is looked at but its id.
 *
 * @returns undefined for what is no such call
 */
export function spentAnswer(sent: Plain, error: KibitzError): Plain | undefined {
  const { method, id, params } = sent;
  const hasId = typeof id === "string" || typeof id === "number";
  if (method !== "tools/call" || !hasId || refusalOfLongId(sent)) {
    return undefined;
  }
  const { code, message, nextAction, retryAfterMs = 0 } = error;
  const text = `Not answered (${code}): ${message}\n\nTry again in ${durationText(retryAfterMs / 1000)}, with play_moves first: it shows what is legal.`;
  const meta = { "kibitz/error": { code, next_action: nextAction, retry_after_ms: retryAfterMs } };
  // Since 2026, a request says which version of the protocol it is of.
  const isModern = "io.modelcontextprotocol/protocolVersion" in metaOf(params);
  const result = { ...errorResult(text, meta), ...(isModern && { resultType: "complete" }) };
  return { jsonrpc: "2.0", id, result };
}

export function sendSpent(
  res: NodeResponse,
  answer: Plain,
  error: KibitzError,
  outcome: RequestOutcome,
): void {
  outcome.code ??= error.code;
  for (const [name, value] of headersFromError(error)) {
    res.setHeader(name, value);
  }
  sendJson(res, 200, outcome, answer);
}

function sendJson(res: NodeResponse, status: number, { answerHeaders }: RequestOutcome, body: Plain): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  res.statusCode = status;
  for (const [name, value] of answerHeaders) {
    res.setHeader(name, value);
  }
  res.setHeader("Content-Type", "application/json");
  res.setHeader("Content-Length", String(bytes.length));
  res.setHeader("Cache-Control", "no-store");
  (res as ServerResponse).end(bytes);
}
