import type { ServerResponse } from "node:http";
import type { Caller } from "../caller.ts";
import type { NodeResponse } from "../server/node-message.ts";

/** Answers in one go: what the call has to say in headers, then those that interceptors left with the caller. */
export function send(
  res: NodeResponse,
  status: number,
  headers: readonly string[],
  caller: Caller,
  body?: string,
): void {
  sendHead(res, status, headers, caller);
  (res as ServerResponse).end(body);
}

/** Begins an answer whose body comes in parts. */
export function sendHead(
  res: NodeResponse,
  status: number,
  headers: readonly string[],
  caller: Caller,
): void {
  const all = [...headers];
  for (const [name, value] of caller.answerHeaders) {
    all.push(name, value);
  }
  // Both kinds of responses take a flat list, but the overloads of the two do not agree on it.
  (res as ServerResponse).writeHead(status, all);
}
