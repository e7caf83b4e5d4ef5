import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { endSoon, muchToCome } from "../lingering-close.ts";
import { lateRequest, type NodeResponse } from "../message.ts";
import { problemAnswer } from "../send-problem.ts";
import { continueWhenRead } from "./dispatch.ts";
import type { ListenerLimits } from "./limits.ts";
import { createRequestQueue, type RequestQueue } from "./request-queue.ts";

/** Methods whose request body is never read. */
const bodiless: readonly (string | undefined)[] = ["GET", "HEAD", "OPTIONS", "DELETE"];

type Headers = readonly (readonly [string, string])[];

/**
 * The time for which a connection is not read after a packet that cannot be parsed, in milliseconds. The following packets are
 * discarded, or show that the client has disconnected.
 */
const brokenPauseMs = 100;

/**
 * Creates the part of the listener that speaks HTTP/1.1.
 *
 * @param answer answers a request
 * @param logUnread logs the error of bytes that are not a request, and returns a request id for them
 * @param unreadHeaders headers of the answers to such bytes
 */
export function createHttp1Server(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
  limits: ListenerLimits,
  logUnread: (socket: Socket, code: string) => string,
  unreadHeaders: Headers,
) {
  const queues = new Map<Socket, RequestQueue>();
  let draining = false;
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.headersMaxBytes,
    // Node would answer without a body. `checkRequest` rejects the request with a problem document instead.
    requireHostHeader: false,
    // A request that offers an upgrade may be answered without one (RFC 9110 section 7.8). This covers WebSocket and h2c.
    shouldUpgradeCallback: () => false,
  });
  server.timeout = limits.silenceTimeoutMs;
  // By default, Node silently drops the 1001st header, which might be Authorization. The size of all headers is limited anyway.
  server.maxHeadersCount = 0;
  const acceptors = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");

  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    server.emit("request", req, res);
  });
  const take = (req: IncomingMessage, res: ServerResponse) => queues.get(req.socket)?.take(res);
  const begin = (res: ServerResponse) => {
    const { req } = res;
    if (draining || (bodiless.includes(req.method) && muchToCome(req))) {
      res.shouldKeepAlive = false;
    }
    answer(req, res);
  };
  server.on("request", take);
  server.on("checkExpectation", take);
  server.on("connect", (req, socket) => {
    const queue = queues.get(req.socket);
    queue?.stop();
    // Node no longer listens to the connection, so without a listener its error would end the process.
    socket.on("error", () => {}).resume();
    const error = new KibitzError("malformed_http", "CONNECT is for proxies, and this is not one.");
    // If another request is still unanswered, its client would take this error for the answer to that request.
    if (queue?.first === undefined) {
      refuseSocket(socket, error, unreadHeaders, logUnread(socket as Socket, error.code));
    }
  });
  server.on("clientError", (error: ClientError, socket) => {
    // Node also parses every further packet, and reports each error here.
    socket.pause();
    setTimeout(() => socket.resume(), brokenPauseMs);
    if (socket.writableEnded) {
      return;
    }
    const queue = queues.get(socket as Socket);
    queue?.stop();
    const first = queue?.first;
    // The client has ended the connection in the middle of a request, or has reset it.
    const hasLeft = error.code === "HPE_INVALID_EOF_STATE" || !socket.writable;
    if (first?.req.complete) {
      // The request before the broken bytes has arrived completely, so its client would take an error for the answer to it.
      if (hasLeft) {
        socket.destroy();
      }
      return;
    }
    const problem = errorFromClientError(error);
    if (first) {
      // A client that disconnects in the middle of a body was not rejected.
      outcomeOf(first.req).code ??= hasLeft ? "canceled" : problem.code;
    }
    if (first && socket.writable && isAnswered(first)) {
      // The answer is on its way to the client: destroying the socket would lose it.
      socket.end();
    } else if (first?.headersSent || !socket.writable) {
      socket.destroy();
    } else {
      const id = first ? contextOf(first.req).id : logUnread(socket as Socket, problem.code);
      refuseSocket(socket, problem, unreadHeaders, id);
    }
  });

  return {
    /** The server that is bound to the port. Node enforces time limits only on an HTTP server that listens itself. */
    server,
    /** Takes over a connection. */
    accept(socket: Socket): void {
      for (const acceptor of acceptors) {
        acceptor.call(server, socket);
      }
      queues.set(socket, createRequestQueue(socket, begin, limits.requestsWaitingMax));
      socket.once("close", () => queues.delete(socket));
    },
    /** Makes each further answer the last one on its connection. */
    drain(): void {
      draining = true;
      for (const { first } of queues.values()) {
        if (first) {
          first.shouldKeepAlive = false;
        }
      }
    },
  };
}

/** True if an answer is complete, even if `endBeforeBody` ends its response later. */
function isAnswered(res: NodeResponse): boolean {
  return res.writableEnded || outcomeOf(res.req).answeredAt !== undefined;
}

interface ClientError extends Error {
  readonly code?: string;
  /** Description of the error by Node's parser. */
  readonly reason?: string;
  /** The packet that Node could not parse. */
  readonly rawPacket?: Buffer;
}

function errorFromClientError({ code, reason, rawPacket }: ClientError): KibitzError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return lateRequest();
    case "HPE_HEADER_OVERFLOW":
      // Node reports only that the headers have too many bytes. If the packet begins with a long target, the target is the
      // reason.
      return /^[A-Z]+ \S{8000}/.test(rawPacket?.toString("latin1", 0, 8100) ?? "")
        ? new KibitzError("uri_too_long", "The request target is too long. Send a POST with a body.")
        : new KibitzError("headers_too_large", "The request headers are larger than 16 KiB.");
    default:
      return new KibitzError(
        "malformed_http",
        `The request is not valid HTTP: ${reason ?? "it cannot be parsed"}.`,
      );
  }
}

/** Writes a problem document to a socket for which Node has created no response, and ends the connection. */
function refuseSocket(socket: Duplex, error: KibitzError, more: Headers, requestId: string): void {
  const { status, headers, body } = problemAnswer(error, requestId);
  const head = [...headers, ["Connection", "close"], ...more]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  endSoon(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
}
