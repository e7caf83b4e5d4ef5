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

/** What is said of no message of JSON-RPC, as the specification wants it: without an id, as none was read. */
export function unreadableMessage(code: number, message: string): Plain {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}

/** A body that is no message. */
export function sendUnreadable(res: NodeResponse, error: KibitzError, outcome: RequestOutcome): void {
  outcome.code ??= error.code;
  const code = protocolErrors[error.code] ?? invalidRequest;
  sendJson(res, 400, outcome, unreadableMessage(code, error.message));
}

/**
 * The answer to a call of a tool by somebody who was refused too often: nothing of it is looked at but its id.
 *
 * @returns undefined for what is no such call
 */
export function spentAnswer({ method, id, params }: Plain, error: KibitzError): Plain | undefined {
  if (method !== "tools/call" || (typeof id !== "string" && typeof id !== "number")) {
    return undefined;
  }
  const { code, message, nextAction, retryAfterMs = 0 } = error;
  const text = `Not answered (${code}): ${message}\n\nTry again in ${durationText(retryAfterMs / 1000)}, with play_moves first: it shows what is legal.`;
  const meta = { "kibitz/error": { code, next_action: nextAction, retry_after_ms: retryAfterMs } };
  const isModern = typeof params === "object" && params !== null && hasVersion(params);
  const result = { ...errorResult(text, meta), ...(isModern && { resultType: "complete" }) };
  return { jsonrpc: "2.0", id, result };
}

/** Whether a request says which version of the protocol it is of, which is new in 2026. */
function hasVersion(params: object): boolean {
  const meta: unknown = "_meta" in params ? params._meta : undefined;
  return typeof meta === "object" && meta !== null && "io.modelcontextprotocol/protocolVersion" in meta;
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
