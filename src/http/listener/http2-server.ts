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

/** Counts a call until its response closes, or returns the limit that is reached: that of its caller, or that of all. */
export type Admit = (req: NodeRequest, res: NodeResponse) => FullLimit | undefined;

/**
 * The part of the listener that speaks HTTP/2. It never listens: connections are handed to it.
 *
 * @param answer answers a request
 * @param refuse refuses a request that does not arrive in time
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
    // In the next turn: of a packet with hundreds of calls, those that it cancels too are never begun.
    setImmediate(() => {
      if (stream.closed || stream.destroyed) {
        return;
      }
      if (draining) {
        // Opened before its client saw the GOAWAY. A gRPC call must not be answered: balancers do not see a status in trailers.
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
    /** Takes a connection over. */
    accept(socket: Socket): void {
      // An http.Server has its sockets half open; a session would then outlive a client that left, for ever.
      socket.allowHalfOpen = false;
      server.emit("connection", socket);
    },
    /**
     * Sends every client a GOAWAY, and closes each connection after its last answer. A request that is not begun by then is refused by
     * a code that says so: it may be sent again.
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
 * Closes a stream if its client reads nothing of a waiting answer for `silenceTimeoutMs`, or for twice as long at most. Node's timeouts of
 * streams and sessions restart with every ping.
 */
function closeUnread(stream: ServerHttp2Stream, silenceTimeoutMs: number): void {
  let waitingBytes = 0;
  const look = setInterval(() => {
    if (stream.bufferSize > 0 && stream.bufferSize === waitingBytes) {
      // With a code: an answer that ends without one looks complete to its reader.
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy();
    }
    waitingBytes = stream.bufferSize;
  }, silenceTimeoutMs);
  // An answer in parts of one size has the same number of bytes waiting again and again.
  stream.on("drain", () => {
    waitingBytes = 0;
  });
  stream.once("close", () => clearInterval(look));
}

/**
 * Clients know from this code that nothing was done, and that they may send the request again. Node makes an error for it: without its stack
 * trace, a flood of refused streams takes half of the time.
 */
function refuseStream(stream: ServerHttp2Stream): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  Error.stackTraceLimit = stackTraceLimit;
}

interface Session {
  /** Ends the connection with its last call. */
  readonly leave: () => void;
  /** Streams that were refused because too many calls are under way. */
  refused: number;
}

/** How long a client may still send calls that it sent before it saw the GOAWAY. */
const goawayGraceMs = 1000;

/**
 * Sends a GOAWAY to a client without calls, and then ends the connection. It counts open calls, because the session's own timer restarts
 * with every byte, also with those of half a header that nghttp2 keeps.
 *
 * @returns sends the GOAWAY now: the connection ends with its last call
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
      // The stream was refused.
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
  // The client reads nothing.
  session.setTimeout(limits.silenceTimeoutMs, () => session.destroy());
  return leave;
}

/** HTTP/2 has no `requestTimeout` in Node. A stream that is open on both sides after that time still lacks bytes. */
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
    // Close now: a handler that still reads the body must not send a second response. For the handler the request ends by this, and has
    // not arrived.
    stream.close();
  }, limits.requestTimeoutMs);
  stream.once("close", () => clearTimeout(timer));
}

/**
 * Lets a response to HEAD emit `close` if its stream closes before the response has ended. Node (26.10) emits it for all other
 * methods only, and what the call holds would never be released.
 */
function closeWithStream(req: Http2ServerRequest, res: Http2ServerResponse): void {
  if (req.method === "HEAD") {
    // If the response has ended before, nobody listens any more.
    req.stream.once("close", () => res.emit("close"));
  }
}
