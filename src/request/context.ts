import type { IncomingHttpHeaders } from "node:http";
import { holdsKey } from "../text/plain-text.ts";
import { uuidv7 } from "../text/uuid.ts";

/** The protocols through which a call can come. */
export type Protocol = "json" | "connect" | "grpc" | "grpc-web" | "cli";

/**
 * Who makes a call, and how: what the interceptors need to know of it, whatever the door.
 *
 * Made once at the edge from the raw request, because reading and writing through `Headers` objects
 * costs a JSON call a third of its time.
 */
export interface Caller {
  /** Given by the caller in X-Request-Id if sane, else made. In every answer, error and log line. */
  readonly requestId: string;
  /** The call's own span in the trace of the caller, as the header `traceparent` (W3C Trace Context). */
  readonly traceparent: string | undefined;
  readonly protocol: Protocol;
  /** Address of the other end of the connection. */
  readonly address: string;
  /** The header X-Forwarded-For, verbatim: only the word of whoever sent it. */
  readonly forwardedFor: string | undefined;
  /** The Authorization header, verbatim. */
  readonly authorization: string | undefined;
  /** Headers that interceptors add to the answer, by lower-case name. */
  readonly answerHeaders: Map<string, string>;
  readonly ending: Ending;
}

/** What is known of how a request ends, for its line in the log. One for all callers that are made of a request. */
export interface Ending {
  /** As the last door that it came to saw them: when the answer has ended, their address may be gone. */
  caller: Caller | undefined;
  /** Why it was refused. */
  code: string | undefined;
  /** Whether it has a line, will get one, or is to have none. */
  hasLine: boolean;
  /** Bytes of the body that have been read, unpacked where that is done before it is decoded. */
  readBytes: number;
}

const endingKey = Symbol("ending");

const saneRequestId = /^[\w.:-]{1,64}$/;

/** The id in an X-Request-Id header if that is sane, else a new one. It is logged: no key may be one. */
export function requestIdFrom(header: unknown): string {
  const sane = typeof header === "string" && saneRequestId.test(header) && !holdsKey(header);
  return sane ? header : uuidv7();
}

interface RawRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
  [endingKey]?: Ending;
}

/** The ending of a request, the same whenever it is asked for. */
export function endingOf(request: RawRequest): Ending {
  request[endingKey] ??= { caller: undefined, code: undefined, hasLine: false, readBytes: 0 };
  return request[endingKey];
}

export function callerFromRequest(request: RawRequest, protocol: Protocol): Caller {
  const forwardedFor = request.headers["x-forwarded-for"];
  const requestId = requestIdFrom(request.headers["x-request-id"]);
  const ending = endingOf(request);
  const caller: Caller = {
    requestId,
    traceparent: request.headers.traceparent as string | undefined,
    protocol,
    address: addressOf(request),
    forwardedFor: typeof forwardedFor === "object" ? forwardedFor.join() : forwardedFor,
    authorization: request.headers.authorization,
    answerHeaders: new Map([["x-request-id", requestId]]),
    ending,
  };
  ending.caller = caller;
  return caller;
}

function addressOf({ socket }: RawRequest): string {
  try {
    // The socket of a connection that is already gone has no address.
    return socket.remoteAddress ?? "unknown";
  } catch {
    // Node's stand-in for the socket of an HTTP/2 session throws when that is gone.
    return "unknown";
  }
}

/** The caller of a call that comes from this process. */
export function localCaller(): Caller {
  const requestId = uuidv7();
  return {
    requestId,
    traceparent: undefined,
    protocol: "cli",
    address: "local",
    forwardedFor: undefined,
    authorization: undefined,
    answerHeaders: new Map(),
    ending: { caller: undefined, code: undefined, hasLine: false, readBytes: 0 },
  };
}
