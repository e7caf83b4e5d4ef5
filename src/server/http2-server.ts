import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { Socket } from "node:net";
import { callerFromRequest } from "../caller.ts";
import { KibitzError } from "../errors.ts";
import type { ListenerLimits } from "./listener-limits.ts";
import { sendProblem } from "./send-problem.ts";

type Http2Listener = (req: Http2ServerRequest, res: Http2ServerResponse) => void;

/** The part of the listener that speaks HTTP/2. It never listens: connections are handed to it. */
export interface Http2Server {
  /** Takes a connection over. */
  accept(socket: Socket): void;
  /** Tells every client to send no more calls here, and closes each connection after its last answer. */
  drain(): void;
}

export function createHttp2Server(answer: Http2Listener, limits: ListenerLimits): Http2Server {
  const sessions = new Set<ServerHttp2Session>();
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
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    closeWhenIdle(session, limits);
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
      for (const session of sessions) {
        session.close();
      }
    },
  };
}

/** First says goodbye, which lets calls go on; later ends a client that leaves everything lying. */
function closeWhenIdle(session: ServerHttp2Session, limits: ListenerLimits): void {
  session.setTimeout(limits.keepAliveTimeoutMs);
  session.on("timeout", () => {
    if (session.closed) {
      session.destroy();
    } else {
      session.close();
    }
    session.setTimeout(limits.silenceTimeoutMs);
  });
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
