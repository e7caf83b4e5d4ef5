import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { lateRequest, type NodeRequest, type NodeResponse } from "../message.ts";
import type { FullLimit } from "./count-limit.ts";
import { continueWhenRead, type Refuse } from "./dispatch.ts";
import type { ListenerLimits } from "./limits.ts";

/** Counts a call until its response closes. If a limit is reached, the call is not counted, and the limit is returned. */
export type Admit = (req: NodeRequest, res: NodeResponse) => FullLimit | undefined;

/**
 * Creates the part of the listener that speaks HTTP/2, on connections that the listener hands over.
 * @param refuse rejects a request that does not arrive in time
 */
export function createHttp2Server(
  answer: (req: Http2ServerRequest, res: Http2ServerResponse) => void,
  admit: Admit,
  limits: ListenerLimits,
  refuse: Refuse,
) {
  const sessions = new Map<ServerHttp2Session, Session>();
  let draining = false;
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
    sessions.set(session, { leave: closeWhenIdle(session, limits), refused: 0 });
    session.once("close", () => sessions.delete(session));
  });
  const take = (req: Http2ServerRequest, res: Http2ServerResponse) => {
    const { stream } = req;
    if (admit(req, res)) {
      refuseStream(stream);
      const session = sessions.get(stream.session as ServerHttp2Session);
      if (session && ++session.refused > limits.streamsRefusedMax) {
        session.leave();
      }
      return;
    }
    closeWithStream(req, res);
    // Wait a turn, so that calls that one packet begins and cancels cause no work.
    setImmediate(() => {
      if (stream.closed || stream.destroyed) {
        return;
      }
      if (draining) {
        // The client had not seen the GOAWAY. An answer would not help: load balancers do not see a gRPC status in trailers.
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      if (!stream.endAfterHeaders) {
        limitArrival(req, res, limits, refuse);
      }
      closeUnread(stream, limits.silenceTimeoutMs);
      answer(req, res);
    });
  };
  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    take(req, res);
  });
  server.on("request", take);
  server.on("checkExpectation", take);
  server.on("connect", take);
  return {
    accept(socket: Socket): void {
      // http.Server keeps sockets half open, so a session would not end when its client disconnects.
      socket.allowHalfOpen = false;
      server.emit("connection", socket);
    },
    /**
     * Sends a GOAWAY, and closes each connection after its last answer. A request that has not begun gets REFUSED_STREAM: the
     * client may send it again.
     */
    drain(): void {
      draining = true;
      for (const { leave } of sessions.values()) {
        leave();
      }
    },
  };
}

/**
 * Closes a stream if its client does not read for `silenceTimeoutMs`, or up to twice that time. Node's timeouts restart with
 * every ping.
 */
function closeUnread(stream: ServerHttp2Stream, silenceTimeoutMs: number): void {
  let waitingBytes = 0;
  const look = setInterval(() => {
    if (stream.bufferSize > 0 && stream.bufferSize === waitingBytes) {
      // Without an error code, an incomplete answer looks complete.
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy();
    }
    waitingBytes = stream.bufferSize;
  }, silenceTimeoutMs);
  // If parts have equal sizes, equal waiting bytes do not prove that the client has stopped reading.
  stream.on("drain", () => {
    waitingBytes = 0;
  });
  stream.once("close", () => clearInterval(look));
}

/** REFUSED_STREAM tells the client that it may retry. In a flood, capturing stack traces would take half of the time. */
function refuseStream(stream: ServerHttp2Stream): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  Error.stackTraceLimit = stackTraceLimit;
}

interface Session {
  readonly leave: () => void;
  /** The number of streams rejected because too many calls are in flight. */
  refused: number;
}

/** Milliseconds between the GOAWAY and the end of an idle connection, for calls that the client sent before it saw the GOAWAY. */
const goawayGraceMs = 1000;

/**
 * Ends an idle connection by a GOAWAY. The returned function sends it at once, and the connection ends after its last call.
 * Open calls are counted because the session's own timer restarts with every byte, even of incomplete headers.
 */
function closeWhenIdle(session: ServerHttp2Session, limits: ListenerLimits): () => void {
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  const leave = () => {
    session.close();
    if (open === 0 && !session.destroyed) {
      clearTimeout(timer);
      timer = setTimeout(() => session.destroy(), goawayGraceMs);
    }
  };
  timer = setTimeout(leave, limits.headersTimeoutMs);
  session.on("stream", (stream) => {
    if (stream.closed) {
      return;
    }
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
  session.setTimeout(limits.silenceTimeoutMs, () => session.destroy());
  return leave;
}

/** Rejects a request whose bytes do not arrive in time: Node has no `requestTimeout` for HTTP/2. */
function limitArrival(
  req: Http2ServerRequest,
  res: Http2ServerResponse,
  limits: ListenerLimits,
  refuse: Refuse,
): void {
  const { stream } = req;
  const timer = setTimeout(() => {
    if (stream.state.state !== constants.NGHTTP2_STREAM_STATE_OPEN) {
      return;
    }
    if (!res.headersSent) {
      refuse(lateRequest(), req, res);
    }
    // A handler that still reads the body sees an incomplete request, and must not send a second response.
    stream.close();
  }, limits.requestTimeoutMs);
  stream.once("close", () => clearTimeout(timer));
}

/** Node (26.10) emits no `close` for a HEAD request whose stream closes early, so the call would never release its resources. */
function closeWithStream(req: Http2ServerRequest, res: Http2ServerResponse): void {
  if (req.method === "HEAD") {
    req.stream.once("close", () => res.emit("close"));
  }
}
