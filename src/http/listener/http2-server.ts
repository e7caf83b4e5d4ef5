import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { outsideRequests, ownerNow, runAs } from "../../request/owner.ts";
import { after, soon, type Timer } from "../../time/time.ts";
import { JoinedHttp2Request } from "../joined-request.ts";
import { lateRequest } from "../message.ts";
import type { CountedRequest, CountRequest } from "./count-request.ts";
import { continueWhenRead, type Refuse } from "./dispatch.ts";
import type { ListenerLimits } from "./limits.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

/** The listener passes each connection to `accept`. The function `refuse` rejects a request that does not arrive in time. */
export function createHttp2Server(
  answer: (req: Http2ServerRequest, res: Http2ServerResponse, counted: CountedRequest) => void,
  countRequest: CountRequest,
  limits: ListenerLimits,
  refuse: Refuse,
  unread: UnreadAnswers,
) {
  const sessions = new Map<ServerHttp2Session, Session>();
  let draining = false;
  const server = createServer({
    Http2ServerRequest: JoinedHttp2Request,
    settings: {
      maxConcurrentStreams: limits.streamsMax,
      maxHeaderListSize: limits.headersMaxBytes,
      enablePush: false,
    },
    streamResetBurst: limits.streamResetsBurst,
    streamResetRate: limits.streamResetsPerSecond,
  });
  server.on("session", (session) => {
    sessions.set(session, { leave: closeWhenIdle(session, limits), refusedStreams: 0 });
    session.once("close", () => sessions.delete(session));
  });
  const begin = createTurns();
  const take = (req: Http2ServerRequest, res: Http2ServerResponse) => {
    const { stream } = req;
    const session = sessions.get(stream.session as ServerHttp2Session);
    const counted = countRequest(req, res);
    if (counted.kind !== "counted") {
      refuseStream(stream);
      if (session && ++session.refusedStreams > limits.streamsRefusedMax) {
        session.leave();
      }
      return;
    }
    if (counted.isLast) {
      stream.once("close", () => session?.leave());
    }
    closeWithStream(req, res);
    // Wait until the complete packet has been read: a call that is cancelled in the same packet should cause no work.
    // A body is read soon, because each of its frames that waits needs 260 bytes of heap.
    (stream.endAfterHeaders ? begin : soon)(() => {
      if (stream.closed || stream.destroyed) {
        return;
      }
      if (draining) {
        // The client sent this request before GOAWAY arrived. Load balancers retry REFUSED_STREAM, but not a gRPC status.
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      if (!stream.endAfterHeaders) {
        limitArrival(req, res, limits, refuse);
      }
      unread.watch(res);
      answer(req, res, counted);
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
      // http.Server allows half-open sockets, with which a session would not end when its client disconnects.
      socket.allowHalfOpen = false;
      server.emit("connection", socket);
    },
    /** Sends GOAWAY, and closes each connection after its last answer. Later requests get REFUSED_STREAM. */
    drain(): void {
      draining = true;
      for (const { leave } of sessions.values()) {
        leave();
      }
    },
  };
}

/** The number of calls that begin in an iteration of the event loop. */
const beginAtOnce = 8;

/**
 * Begins few calls at a time, because a burst of calls would otherwise delay everything else by seconds. Each call begins in the
 * context in which it arrived.
 */
function createTurns(): (begin: () => void) => void {
  const waiting: (() => void)[] = [];
  const run = () => {
    const next = waiting.splice(0, beginAtOnce);
    if (waiting.length > 0) {
      outsideRequests(() => soon(run));
    }
    for (const begin of next) {
      begin();
    }
  };
  return (begin) => {
    const owner = ownerNow();
    if (waiting.push(() => runAs(owner, begin)) === 1) {
      outsideRequests(() => soon(run));
    }
  };
}

/** Closes a stream with REFUSED_STREAM. Turns off stack traces, which would take half of the time in a flood of requests. */
function refuseStream(stream: ServerHttp2Stream): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  Error.stackTraceLimit = stackTraceLimit;
}

interface Session {
  readonly leave: () => void;
  refusedStreams: number;
}

/** Milliseconds from GOAWAY to the end of an idle connection. A call that the client sent before GOAWAY can still arrive. */
const goawayGraceMs = 1000;

/**
 * Closes a connection if no call was open for too long. Node's session timer is useless: every byte restarts it.
 * The returned function sends GOAWAY at once. The connection then closes after its last call.
 */
function closeWhenIdle(session: ServerHttp2Session, limits: ListenerLimits): () => void {
  let open = 0;
  let timer: Timer | undefined;
  const leave = () => {
    session.close();
    if (open === 0 && !session.destroyed) {
      timer?.cancel();
      timer = after(goawayGraceMs, () => session.destroy());
    }
  };
  timer = after(limits.headersTimeoutMs, leave);
  session.on("stream", (stream) => {
    if (stream.closed) {
      return;
    }
    open++;
    timer?.cancel();
    stream.once("close", () => {
      open--;
      if (open === 0 && !session.destroyed) {
        timer = after(session.closed ? 0 : limits.keepAliveTimeoutMs, leave);
      }
    });
  });
  session.once("close", () => timer?.cancel());
  session.setTimeout(limits.silenceTimeoutMs, () => session.destroy());
  return leave;
}

/** Rejects a request that does not arrive completely in time. Node has no `requestTimeout` for HTTP/2. */
function limitArrival(
  req: Http2ServerRequest,
  res: Http2ServerResponse,
  limits: ListenerLimits,
  refuse: Refuse,
): void {
  const { stream } = req;
  const timer = after(limits.requestTimeoutMs, () => {
    if (stream.state.state !== constants.NGHTTP2_STREAM_STATE_OPEN) {
      return;
    }
    if (!res.headersSent) {
      refuse(lateRequest(), req, res);
    }
    // A handler that is reading the body now gets an incomplete request. This handler must not answer again.
    stream.close();
  });
  stream.once("close", () => timer.cancel());
}

/** Emits `close` if the stream of a HEAD request closes early, because Node (26.10) does not emit this event. */
function closeWithStream(req: Http2ServerRequest, res: Http2ServerResponse): void {
  if (req.method === "HEAD") {
    req.stream.once("close", () => res.emit("close"));
  }
}
