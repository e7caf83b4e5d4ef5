import type { ServerResponse } from "node:http";
import { parse } from "content-type";
import { preferredType } from "../../http/headers.ts";
import type { NodeResponse } from "../../http/message.ts";
import type { RequestOutcome } from "../../request/outcome.ts";

/** Answers in one go: what the call has to say in headers, then those that were added on the way. */
export function send(
  res: NodeResponse,
  status: number,
  headers: readonly string[],
  outcome: RequestOutcome,
  body?: string,
): void {
  sendHead(res, status, headers, outcome);
  (res as ServerResponse).end(body);
}

/** Begins an answer whose body comes in parts. */
export function sendHead(
  res: NodeResponse,
  status: number,
  headers: readonly string[],
  outcome: RequestOutcome,
): void {
  const all = [...headers];
  for (const [name, value] of outcome.answerHeaders) {
    all.push(name, value);
  }
  // Both kinds of responses take a flat list, but the overloads of the two do not agree on it.
  (res as ServerResponse).writeHead(status, all);
}

/** Whether a Content-Type says JSON in UTF-8. Parameters that say nothing of the encoding are let pass. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") {
    return true;
  }
  const { type, parameters } = parse(contentType ?? "");
  return type === "application/json" && (parameters.charset ?? "utf-8").toLowerCase() === "utf-8";
}

/** Whether an Accept header lets an answer of this media type pass. */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  return preferredType(accept, [mediaType]) !== undefined;
}

/** Whether an Accept header asks for a media type rather than for the usual one. */
export function prefers(accept: string | undefined, mediaType: string, usual: string): boolean {
  return preferredType(accept, [usual, mediaType]) === mediaType;
}
