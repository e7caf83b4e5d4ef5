import type { ServerResponse } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Entry } from "../../access/entrance.ts";
import type { Call } from "../../calls/call.ts";
import type { Calls } from "../../calls/register.ts";
import { type NodeRequest, type NodeResponse, onLeave, preferredType } from "../../http/message.ts";
import { CallerLeft, contextOf, outcomeOf, type RequestOutcome } from "../../request/context.ts";
import type { RequestReaderOptions } from "./read-request.ts";
import type { Route } from "./routes.ts";

/** Media type of server-sent events. */
export const eventStream = "text/event-stream";

/** Media type of JSON texts, a line each. */
export const jsonLines = "application/x-ndjson";

/** The headers of an answer that comes in parts, each of which is to be read at once. */
export const headersOfParts = (mediaType: string): readonly string[] => [
  "Content-Type",
  mediaType,
  "Cache-Control",
  "no-store",
  // nginx would keep the parts until it has a buffer full.
  "X-Accel-Buffering",
  "no",
];

/** The call that a request makes, whose answer the response carries. */
export function callOf(
  req: NodeRequest,
  res: NodeResponse,
  { account }: Entry,
  { method, verb }: Route,
  unreadable?: Call["unreadable"],
): Call {
  const controller = new AbortController();
  onLeave(res, () => controller.abort(new CallerLeft()));
  return {
    method,
    request: contextOf(req),
    outcome: outcomeOf(req),
    account,
    signal: controller.signal,
    isGet: verb === "GET",
    ...(unreadable && { unreadable }),
  };
}

/** Answers the requests of one route. What it rejects with is the problem that the caller is told of. */
export type Answer = (req: NodeRequest, res: NodeResponse, entry: Entry) => Promise<void>;

/** Authenticates and admits a call of a method, or a request that is no call, before its body is read. @throws KibitzError */
export type Enter = (req: NodeRequest, method: DescMethod | undefined) => Promise<Entry>;

export interface UnaryAnswerOptions extends RequestReaderOptions {
  readonly calls: Calls;
}

export interface StreamAnswerOptions extends RequestReaderOptions {
  readonly calls: Calls;
  /** How often a stream of events says that it still lives, in milliseconds. */
  readonly keepAliveMs?: number;
  /**
   * How long the head of an array waits for its last item, in milliseconds: then its RateLimit fields are exact. 10 s, unless given: not
   * longer, because proxies give up a connection on which nothing moves.
   */
  readonly headWaitMs?: number;
}

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

/** Whether an Accept header lets an answer of this media type pass. */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  return preferredType(accept, [mediaType]) !== undefined;
}

/** Whether an Accept header asks for a media type rather than for the usual one. */
export function prefers(accept: string | undefined, mediaType: string, usual: string): boolean {
  return preferredType(accept, [usual, mediaType]) === mediaType;
}
