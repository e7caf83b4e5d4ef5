import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { KibitzError } from "../../errors/errors.ts";
import { lateRequest, type NodeRequest, type NodeResponse } from "../message.ts";
import type { Full } from "./calls-under-way.ts";
import type { Place } from "./connections.ts";
import { continueWhenRead } from "./dispatch.ts";
import type { Admit } from "./http1-server.ts";
import type { ListenerLimits } from "./limits.ts";

type Http2Listener = (req: Http2ServerRequest, res: Http2ServerResponse, full: Full | undefined) => void;

/** The part of the listener that speaks HTTP/2. It never listens: connections are handed to it. */
export interface Http2Server {
  /** Takes a connection over. */
  accept(place: Place): void;
  /**
   * Tells every client to send no more calls here, and closes each connection after its last answer. What is not begun by
   * then is refused by a code that says so: it may be sent again.
   */
  drain(): void;
}

/** Refuses a request in the protocol of its caller. */
export type Refuse = (error: KibitzError, req: NodeRequest, res: NodeResponse) => void;

/**
 * @param answer is asked for the answer to a request, and told what is full, so that its connection is a spare one
 * @param admit counts a call, or says what is full
 * @param refuse what does not arrive in time
 */
export function createHttp2Server(
  answer: Http2Listener,
  admit: Admit,
  limits: ListenerLimits,
  refuse: Refuse,
): Http2Server {
  const sessions = new Map<ServerHttp2Session, Session>();
  /** Whose session is being made. */
  let accepted: Place | undefined;
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
    const place = accepted;
    const leave = closeWhenIdle(session, limits);
    sessions.set(session, { place, leave, refused: 0 });
    cutStalled(session, limits.takeTimeoutMs);
    session.once("close", () => sessions.delete(session));
    if (place) {
      // With a GOAWAY, which tells its client what was not looked at.
      place.end = () => session.destroy();
    }
  });
  const take = (req: Http2ServerRequest, res: Http2ServerResponse) => {
    const session = sessions.get(req.stream.session as ServerHttp2Session);
    const { place } = session ?? {};
    const full = place?.spareFor;
    const admitted = full || place === undefined ? undefined : admit(req, place);
    if (typeof admitted === "string") {
      refuseStream(req.stream);
      if (session && ++session.refused > limits.streamsRefusedMax) {
        session.leave();
      }
      return;
    }
    closeWithStream(req, res);
    place?.begin(res, admitted);
    if (full) {
      session?.leave();
    }
    // Until it is begun nobody else listens, and who leaves makes it emit this.
    req.on("error", () => {});
    // In the next turn: of a packet with hundreds of calls, those that it cancels too are never begun.
    setImmediate(() => {
      if (req.stream.closed || req.stream.destroyed) {
        return;
      }
      if (draining) {
        // It came before its client could read the goodbye. Of a call of gRPC that is answered, a balancer sees no status.
        req.stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      if (!req.stream.endAfterHeaders) {
        limitArrival(req, res, limits, refuse);
      }
      answer(req, res, full);
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
    accept(place) {
      const { socket } = place;
      // An http.Server has its sockets half open; a session would then outlive a client that left, for ever.
      socket.allowHalfOpen = false;
      accepted = place;
      server.emit("connection", socket);
      accepted = undefined;
    },
    drain() {
      draining = true;
      for (const { leave } of sessions.values()) {
        leave();
      }
    },
  };
}

/**
 * Nothing was done for the stream: clients know from this code that they may send it again. Node makes an error for it, whose stack
 * nobody reads and which takes half of the time.
 */
function refuseStream(stream: ServerHttp2Stream): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  Error.stackTraceLimit = stackTraceLimit;
}

interface Session {
  readonly place: Place | undefined;
  /** Ends the connection with its last call. */
  readonly leave: () => void;
  /** Streams that were refused because too many calls are under way. */
  refused: number;
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
    if (stream.closed) {
      // It was refused.
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
  // A client that leaves everything lying.
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
    // At once, and not when the answer is through: whoever still reads the request must not answer it, too. For them it ends by
    // this, and has not arrived.
    stream.close();
  }, limits.requestTimeoutMs);
  stream.once("close", () => clearTimeout(timer));
}

/** Looks in the time that an answer has: one that nobody takes is cut when it is up, and half of it later at most. */
const looksPerTime = 2;

/**
 * Cuts calls whose answer nobody takes. What waits is in memory, and over HTTP/2 a client can let calls wait for ever
 * while it keeps their connection alive: with a window of nothing, and pings. (Over HTTP/1.1 the silence of the
 * connection ends it.) The rest of the connection goes on.
 *
 * @param takeTimeoutMs how long what waits may stay the same, in milliseconds
 */
export function cutStalled(session: ServerHttp2Session, takeTimeoutMs: number): void {
  // Few, and no `Map`: what that has held stays until V8 collects the whole heap.
  const open: Waiting[] = [];
  session.on("stream", (stream) => {
    if (stream.closed) {
      return;
    }
    const waiting: Waiting = { stream, bytes: 0, since: 0 };
    open.push(waiting);
    // Parts of one size look alike: that one was taken tells itself.
    stream.on("drain", () => {
      waiting.bytes = 0;
    });
    stream.once("close", () => open.splice(open.indexOf(waiting), 1));
  });
  const look = setInterval(() => {
    const now = performance.now();
    for (const waiting of open) {
      const bytes = waiting.stream.bufferSize;
      if (bytes === 0 || bytes !== waiting.bytes) {
        waiting.bytes = bytes;
        waiting.since = now;
      } else if (now - waiting.since >= takeTimeoutMs) {
        // With a code: what ends without one looks whole to its reader.
        waiting.stream.close(constants.NGHTTP2_CANCEL);
        waiting.stream.destroy();
      }
    }
  }, takeTimeoutMs / looksPerTime);
  session.once("close", () => clearInterval(look));
}

interface Waiting {
  readonly stream: ServerHttp2Stream;
  /** Bytes of the answer that its caller has not taken. */
  bytes: number;
  /** Since when they are so many, by `performance.now()`. */
  since: number;
}

/**
 * Lets a response to HEAD emit `close` if its stream closes before the response has ended. Node (26.10) emits it for all other
 * methods only, and what the call holds would never be released.
 */
function closeWithStream(req: Http2ServerRequest, res: Http2ServerResponse): void {
  if (req.method === "HEAD") {
    let isClosed = false;
    res.once("close", () => {
      isClosed = true;
    });
    req.stream.once("close", () => isClosed || res.emit("close"));
  }
}
