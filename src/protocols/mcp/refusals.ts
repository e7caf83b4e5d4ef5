import { KibitzError } from "../../errors/errors.ts";
import type { Plain } from "../../text/json.ts";

export const notJson = -32700;
export const invalidRequest = -32600;
const invalidParams = -32602;
export const internalError = -32603;
/** For a message of a batch that a limit refuses. A message by itself gets the HTTP status of this error. */
export const notAnswered = -32000;

/** Returns the error to log and to count if the SDK has rejected a message with this HTTP status. */
export function noMessage(status: number): KibitzError {
  const code = status === 404 ? "not_found" : status === 406 ? "not_acceptable" : "malformed_http";
  return new KibitzError(code, "The message is none that the protocol knows.");
}

/** Returns the answer to a rejected message. JSON-RPC requires the id null if the id of the message could not be read. */
export function refusedAnswer(code: number, message: string, id: string | number | null = null) {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** The only version of MCP that has batches of JSON-RPC. Over HTTP, a message without a version has this version. */
export const batchVersion = "2025-03-26";

/** The maximum number of messages in a batch. A batch has the calls of one turn of an agent. */
const batchMax = 20;

/** Returns the answer to a batch that must not be read. Returns undefined for other batches. */
export function refusalOfBatch(messages: readonly unknown[], version: unknown) {
  if (version !== batchVersion) {
    const text = `Only the version ${batchVersion} has batches: send each message by itself.`;
    return refusedAnswer(invalidRequest, text);
  }
  if (messages.length === 0 || messages.length > batchMax) {
    const text = `A batch has 1 to ${batchMax} messages, not ${messages.length}.`;
    return refusedAnswer(invalidRequest, text);
  }
  if (messages.some((message) => (Object(message) as Plain).method === "initialize")) {
    return refusedAnswer(invalidRequest, "A batch must not contain initialize: send it by itself.");
  }
  return undefined;
}

/** The maximum number of characters of an id or a progress token. Answers and progress reports repeat these texts. */
const echoedMaxCharacters = 256;

/**
 * Returns the answer to a message whose id or progress token is too long, or is a number that JSON parsers round, so that the
 * client could not find the request of an answer. Returns undefined for other messages.
 */
export function refusalOfLongId({ id, params }: Plain) {
  const { progressToken } = Object(Object(params)._meta) as Plain;
  if (isRounded(id)) {
    return refusedAnswer(invalidRequest, `The id of a request ${beyond}.`);
  }
  if (isRounded(progressToken)) {
    return refusedAnswer(invalidParams, `\`params._meta.progressToken\` ${beyond}.`, idOf({ id }));
  }
  const most = `must have at most ${echoedMaxCharacters} characters, not`;
  if (isTooLong(id)) {
    return refusedAnswer(invalidRequest, `The id of a request ${most} ${id.length}.`);
  }
  if (isTooLong(progressToken)) {
    const text = `\`params._meta.progressToken\` ${most} ${progressToken.length}.`;
    return refusedAnswer(invalidParams, text, idOf({ id }));
  }
  return undefined;
}

/** Returns the id of a message, for the answer that rejects the message. Returns null if the id is missing, too long or rounded. */
export function idOf(message: unknown): string | number | null {
  const { id } = Object(message) as Plain;
  const isUsable = typeof id === "number" ? !isRounded(id) : typeof id === "string" && !isTooLong(id);
  return isUsable ? (id as string | number) : null;
}

const beyond = "must be a text or an integer of at most 2^53 - 1, because JSON parsers round larger numbers";

function isRounded(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function isTooLong(value: unknown): value is string {
  return typeof value === "string" && value.length > echoedMaxCharacters;
}
