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
 * Creates the part of the listener that speaks HTTP/2. It opens no port: the listener hands connections over to it.
 *
 * @param answer answers a request
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
    // Wait for the next turn of the event loop: if one packet begins hundreds of calls and cancels them, no work is done for
    // them.
    setImmediate(() => {
      if (stream.closed || stream.destroyed) {
        return;
      }
      if (draining) {
        // The client opened the stream before it saw the GOAWAY. Do not answer, because load balancers do not see a gRPC status
        // in trailers.
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
    /** Takes over a connection. */
    accept(socket: Socket): void {
      // An http.Server keeps its sockets half open. A session would then never end after its client has disconnected.
      socket.allowHalfOpen = false;
      server.emit("connection", socket);
    },
    /**
     * Sends every client a GOAWAY, and closes each connection after its last answer. A request that has not begun is rejected
     * with REFUSED_STREAM, which permits the client to send it again.
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
 * Closes a stream if its client does not read a waiting answer for `silenceTimeoutMs`, or for up to twice that time. Node's own
 * timeouts of streams and sessions restart with every ping.
 */
function closeUnread(stream: ServerHttp2Stream, silenceTimeoutMs: number): void {
  let waitingBytes = 0;
  const look = setInterval(() => {
    if (stream.bufferSize > 0 && stream.bufferSize === waitingBytes) {
      // Close with an error code, because an answer that ends without one looks complete to its reader.
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy();
    }
    waitingBytes = stream.bufferSize;
  }, silenceTimeoutMs);
  // If the parts of an answer have equal sizes, the same number of bytes may wait again although the client reads.
  stream.on("drain", () => {
    waitingBytes = 0;
  });
  stream.once("close", () => clearInterval(look));
}

/**
 * Rejects a stream with REFUSED_STREAM: the client then knows that nothing was done, and that it may send the request again. Node
 * creates an error for each rejected stream. Capturing its stack trace would take half of the time in a flood of them.
 */
function refuseStream(stream: ServerHttp2Stream): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  Error.stackTraceLimit = stackTraceLimit;
}

interface Session {
  /** Ends the connection after its last call. */
  readonly leave: () => void;
  /** The number of streams that were rejected because too many calls are in flight. */
  refused: number;
}

/**
 * The time between the GOAWAY and the end of a connection without calls, in milliseconds. The client may have sent calls before
 * it saw the GOAWAY.
 */
const goawayGraceMs = 1000;

/**
 * Sends a GOAWAY to a client without calls, and then ends the connection. It counts open calls, because the session's own timer
 * restarts with every byte, even with the bytes of incomplete headers.
 *
 * @returns a function that sends the GOAWAY now; the connection then ends after its last call
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
      // The stream was rejected.
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
  // No byte has moved for a long time: the client does not read.
  session.setTimeout(limits.silenceTimeoutMs, () => session.destroy());
  return leave;
}

/**
 * Rejects a request that does not arrive in time, because Node has no `requestTimeout` for HTTP/2. A stream that is still open on
 * both sides after that time lacks bytes.
 */
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
    // Close now: a handler that still reads the body must not send a second response. The handler sees the end of an incomplete
    // request.
    stream.close();
  }, limits.requestTimeoutMs);
  stream.once("close", () => clearTimeout(timer));
}

/**
 * Makes the response to a HEAD request emit `close` if its stream closes before the response has ended. Node (26.10) emits
 * `close` only for all other methods, so the resources of the call would never be released.
 */
function closeWithStream(req: Http2ServerRequest, res: Http2ServerResponse): void {
  if (req.method === "HEAD") {
    // If the response has already ended, nobody listens any more.
    req.stream.once("close", () => res.emit("close"));
  }
}
