import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { ownerOf, runAs } from "../../request/owner.ts";
import { after } from "../../time/time.ts";
import { JoinedHttp1Request } from "../joined-request.ts";
import { endSoon, hasLongRest } from "../lingering-close.ts";
import { lateRequest, type NodeResponse } from "../message.ts";
import { problemAnswer } from "../send-problem.ts";
import { headerOverhead } from "./check-request.ts";
import { continueWhenRead } from "./dispatch.ts";
import type { ListenerLimits } from "./limits.ts";
import { createRequestQueue, type RequestQueue } from "./request-queue.ts";

const bodiless: readonly (string | undefined)[] = ["GET", "HEAD", "OPTIONS", "DELETE"];

type Headers = readonly (readonly [string, string])[];

/** After bytes that cannot be parsed, the server reads nothing from the connection for this many milliseconds. */
const brokenPauseMs = 100;

/** `logUnread` logs an unreadable request and returns its request id. The answer has the headers `unreadHeaders`. */
export function createHttp1Server(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
  limits: ListenerLimits,
  logUnread: (socket: Socket, code: string) => string,
  unreadHeaders: Headers,
) {
  const queues = new Map<Socket, RequestQueue>();
  let draining = false;
  const server = createServer({
    IncomingMessage: JoinedHttp1Request,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.headersMaxBytes,
    // Node's own answer would have no body. `checkRequest` sends a problem document instead.
    requireHostHeader: false,
    // A request that offers an upgrade to WebSocket or h2c is answered like any other request (RFC 9110 section 7.8).
    shouldUpgradeCallback: () => false,
  });
  server.timeout = limits.silenceTimeoutMs;
  // Node silently ignores all headers after this number. A request with so many headers is refused (`headerBytes`).
  server.maxHeadersCount = Math.ceil(limits.headersMaxBytes / headerOverhead);
  const acceptors = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");

  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    server.emit("request", req, res);
  });
  const take = (req: IncomingMessage, res: ServerResponse) => queues.get(req.socket)?.take(res);
  const begin = (res: ServerResponse) => {
    const { req } = res;
    if (draining || (bodiless.includes(req.method) && hasLongRest(req))) {
      res.shouldKeepAlive = false;
    }
    answer(req, res);
  };
  server.on("request", take);
  server.on("checkExpectation", take);
  server.on("connect", (req, socket) => {
    const queue = queues.get(req.socket);
    queue?.stop();
    // Without a listener for errors, an error of the connection would end the process.
    socket.on("error", () => {}).resume();
    const error = new KibitzError("malformed_http", "CONNECT is for proxies, and this is not one.");
    // If an earlier request is not answered yet, its client would mistake this error for the answer.
    if (queue?.first === undefined) {
      refuseSocket(socket, error, unreadHeaders, logUnread(socket as Socket, error.code));
    }
  });
  const refuseBroken = (error: ClientError, socket: Duplex) => {
    // Pause, because Node also parses every further packet and reports each error here.
    socket.pause();
    after(brokenPauseMs, () => socket.resume());
    if (socket.writableEnded) {
      return;
    }
    const queue = queues.get(socket as Socket);
    queue?.stop();
    const first = queue?.first;
    // True if the client has closed or reset the connection during a request.
    const isDisconnected = error.code === "HPE_INVALID_EOF_STATE" || !socket.writable;
    if (first?.req.complete) {
      // The client would mistake an error for the answer to its first request, which is complete.
      if (isDisconnected) {
        socket.destroy();
      }
      return;
    }
    const problem = errorFromClientError(error);
    if (first) {
      outcomeOf(first.req).code ??= isDisconnected ? "canceled" : problem.code;
    }
    if (first && socket.writable && isAnswered(first)) {
      // `destroy` could lose a part of the answer that is not sent yet.
      socket.end();
    } else if (first?.headersSent || !socket.writable) {
      socket.destroy();
    } else {
      const id = first ? contextOf(first.req).id : logUnread(socket as Socket, problem.code);
      refuseSocket(socket, problem, unreadHeaders, id);
    }
  };
  // Node reports a timeout from a timer of the server.
  server.on("clientError", (error: ClientError, socket) =>
    runAs(ownerOf(socket), () => refuseBroken(error, socket)),
  );

  return {
    /** Bind this server to the port. Node enforces timeouts only on the HTTP server that is bound to the port. */
    server,
    accept(socket: Socket): void {
      for (const acceptor of acceptors) {
        acceptor.call(server, socket);
      }
      queues.set(socket, createRequestQueue(socket, begin, limits));
      socket.once("close", () => queues.delete(socket));
    },
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

/** True if the answer is complete, even if `endBeforeBody` has not ended the response yet. */
function isAnswered(res: NodeResponse): boolean {
  return res.writableEnded || outcomeOf(res.req).answeredAt !== undefined;
}

interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

function errorFromClientError({ code, reason, rawPacket }: ClientError): KibitzError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return lateRequest();
    case "HPE_HEADER_OVERFLOW":
      // Node reports that the headers are too large, even if the request target is too long.
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

function refuseSocket(socket: Duplex, error: KibitzError, more: Headers, requestId: string): void {
  const { status, headers, body } = problemAnswer(error, requestId);
  const head = [...headers, ["Connection", "close"], ...more]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  endSoon(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
}
