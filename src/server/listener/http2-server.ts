import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { Socket } from "node:net";
import { callerFromRequest } from "../../caller.ts";
import { KibitzError } from "../../errors/errors.ts";
import { sendProblem } from "../send-problem.ts";
import { continueWhenRead } from "./continue-when-read.ts";
import { cutStalled } from "./cut-stalled.ts";
import type { ListenerLimits } from "./listener-limits.ts";

type Http2Listener = (req: Http2ServerRequest, res: Http2ServerResponse) => void;

/** The part of the listener that speaks HTTP/2. It never listens: connections are handed to it. */
export interface Http2Server {
  /** Takes a connection over. */
  accept(socket: Socket): void;
  /** Tells every client to send no more calls here, and closes each connection after its last answer. */
  drain(): void;
}

export function createHttp2Server(answer: Http2Listener, limits: ListenerLimits): Http2Server {
  const sessions = new Map<ServerHttp2Session, () => void>();
  const server = createServer({
    settings: {
      maxConcurrentStreams: limits.streamsMax,
      maxHeaderListSize: limits.headersMaxBytes,
      enablePush: false,
    },
    streamResetBurst: limits.streamResetsBurst,
    streamResetRate: limits.streamResetsPerSecond,
  });
  server.on("session", (session) => {
    sessions.set(session, closeWhenIdle(session, limits));
    cutStalled(session, limits.takeTimeoutMs);
    session.once("close", () => sessions.delete(session));
  });
  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    server.emit("request", req, res);
  });
  server.on("request", (req, res) => {
    if (!req.stream.endAfterHeaders) {
      limitArrival(req, res, limits);
    }
    answer(req, res);
  });
  server.on("checkExpectation", answer);
  server.on("connect", answer);
  return {
    accept(socket) {
      // An http.Server has its sockets half open; a session would then outlive a client that left, for ever.
      socket.allowHalfOpen = false;
      server.emit("connection", socket);
    },
    drain() {
      for (const leave of sessions.values()) {
        leave();
      }
    },
  };
}

/** How long a client may still send what it sent before it read the goodbye. */
const goodbyeMs = 1000;

/**
 * Says goodbye to a client without calls, and then ends the connection. By open calls, because nothing tells of headers
 * that arrive byte by byte: nghttp2 keeps half of them without a word, and for the session's own timer they are life.
 *
 * @returns says goodbye now: the connection ends with its last call
 */
function closeWhenIdle(session: ServerHttp2Session, limits: ListenerLimits): () => void {
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  const leave = () => {
    session.close();
    if (open === 0 && !session.destroyed) {
      clearTimeout(timer);
      timer = setTimeout(() => session.destroy(), goodbyeMs);
    }
  };
  timer = setTimeout(leave, limits.headersTimeoutMs);
  session.on("stream", (stream) => {
    open++;
    clearTimeout(timer);
    stream.once("close", () => {
      open--;
      if (open === 0 && !session.destroyed) {
        timer = setTimeout(leave, session.closed ? 0 : limits.keepAliveTimeoutMs);
      }
    });
  });
  session.once("close", () => clearTimeout(timer));
  // A client that leaves everything lying.
  session.setTimeout(limits.silenceTimeoutMs, () => session.destroy());
  return leave;
}

/** HTTP/2 has no `requestTimeout` in Node. A stream that is open on both sides after that time still lacks bytes. */
function limitArrival(req: Http2ServerRequest, res: Http2ServerResponse, limits: ListenerLimits): void {
  const { stream } = req;
  const timer = setTimeout(() => {
    if (stream.state.state !== constants.NGHTTP2_STREAM_STATE_OPEN) {
      return;
    }
    const error = new KibitzError("request_timeout", "The request did not arrive in time.");
    sendProblem(req, res, error, callerFromRequest(req, "json").requestId);
    // At once, and not when the answer is through: whoever still reads the request must not answer it, too.
    stream.close();
  }, limits.requestTimeoutMs);
  stream.once("close", () => clearTimeout(timer));
}
