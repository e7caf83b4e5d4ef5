import { once } from "node:events";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Log } from "../../log/log.ts";
import {
  type BeginSpan,
  identifyRequest,
  originOf,
  outcomeOf,
  pathFrom,
  type RequestContext,
} from "../../request/context.ts";
import type { NodeRequest, NodeResponse, RequestHandler } from "../message.ts";
import { sendProblem } from "../send-problem.ts";
import { createCallsUnderWay, type Full } from "./calls-under-way.ts";
import { createAdmission, createFullWarnings, type Place } from "./connections.ts";
import type { Cors } from "./cors.ts";
import { createDispatch, type DispatchOptions } from "./dispatch.ts";
import { createHttp1Server } from "./http1-server.ts";
import { createHttp2Server, type Refuse } from "./http2-server.ts";
import { type ListenerLimits, listenerLimits } from "./limits.ts";

/** One port for HTTP/1.1 and HTTP/2 without TLS. */
export interface Listener {
  /** Whether `stop` was called: nothing new is accepted, what was begun is finished. */
  readonly draining: boolean;
  /** Port 0 picks a free one; the answer says which. Rejects where the port cannot be had. */
  listen(host: string, port: number): Promise<{ host: string; port: number }>;
  /**
   * Accepts no more, lets the answers under way be finished, and resolves when the last connection is closed.
   * After the deadline, if there is one, connections are cut. May be called again, to set a closer one.
   */
  stop(deadlineMs?: number): Promise<void>;
}

export interface ListenerOptions {
  /** Asked in this order; the first one that takes a request keeps it. */
  readonly handlers: readonly RequestHandler[];
  /** Asked instead if something is full: probes are answered then, and nobody else is. */
  readonly handlersIfFull?: (full: Full) => readonly RequestHandler[];
  readonly cors: Cors;
  readonly log: Pick<Log, "error" | "warn">;
  /** Whether a path is below that of a service; none is if unset. */
  readonly isRpcPath?: (path: string) => boolean;
  /** Writes the line of a request that did not become a call. */
  readonly tellRefused?: DispatchOptions["tellRefused"];
  /** Refuses what does not arrive in time over HTTP/2, in the protocol of its caller; with a problem document if unset. */
  readonly refuse?: Refuse;
  /** Begins the spans of requests; where unset none is kept. */
  readonly beginSpan?: BeginSpan | undefined;
  /**
   * The address that a connection counts for, of what its socket says of the other end; undefined for those that are
   * counted only in all.
   */
  readonly addressOf?: (peer: string) => string | undefined;
  /** Connections at a time of one address. */
  readonly connectionsPerAddress?: number;
  /** The caller that a request counts for if it was forwarded; undefined for one that is counted only in all. */
  readonly callerOf?: (origin: Pick<RequestContext, "address" | "forwardedFor">) => string | undefined;
  /** Calls at a time of one caller. */
  readonly callsPerCaller?: () => number;
  /** Whether requests for a path are answered whatever is full. None is if unset. */
  readonly isProbe?: (path: string) => boolean;
  readonly limits?: Partial<ListenerLimits>;
}

/** How often a stop looks for connections that have become idle. */
const sweepIntervalMs = 100;

export function createListener(options: ListenerOptions): Listener {
  const { handlers, handlersIfFull = () => [], cors, log, limits: given } = options;
  const { isRpcPath = () => false, tellRefused = () => {}, beginSpan } = options;
  const { refuse = (error, req, res) => sendProblem(req, res, error) } = options;
  const { addressOf = (peer) => peer, connectionsPerAddress = Number.POSITIVE_INFINITY } = options;
  const {
    callerOf = () => undefined,
    callsPerCaller = () => Number.POSITIVE_INFINITY,
    isProbe = () => false,
  } = options;
  const limits = { ...listenerLimits, ...given };
  const dispatching = {
    cors,
    log,
    headersMaxBytes: limits.headersMaxBytes,
    isRpcPath,
    tellRefused,
    beginSpan,
  };
  const answerUsual = createDispatch({ ...dispatching, handlers });
  const answerIfFull: Readonly<Record<Full, typeof answerUsual>> = {
    caller: createDispatch({ ...dispatching, handlers: handlersIfFull("caller") }),
    service: createDispatch({ ...dispatching, handlers: handlersIfFull("service") }),
  };
  const answer = (req: NodeRequest, res: NodeResponse, full: Full | undefined) =>
    full ? answerIfFull[full](req, res) : answerUsual(req, res);
  const warnings = createFullWarnings(limits, connectionsPerAddress, callsPerCaller, log);
  const calls = createCallsUnderWay({
    max: limits.callsMax,
    maxPerCaller: callsPerCaller,
    onFull: () => warnings("calls"),
  });
  const admit = (req: NodeRequest, { address }: Place) => {
    if (isProbe(pathFrom(req.url ?? ""))) {
      return undefined;
    }
    const isForwarded = req.headers["x-forwarded-for"] !== undefined;
    return calls.begin(isForwarded ? callerOf(originOf(req)) : address);
  };
  /** Of what Node has made no request. */
  const tellUnread = (socket: Socket, code: string) => {
    const unread = { method: "", url: "", headers: {}, socket };
    const { id } = identifyRequest(unread, isRpcPath);
    outcomeOf(unread).code = code;
    tellRefused(unread, performance.now());
    return id;
  };
  const http1 = createHttp1Server(answer, admit, limits, cors.unread, tellUnread);
  const http2 = createHttp2Server(answer, admit, limits, refuse);
  const admission = createAdmission(limits, connectionsPerAddress, warnings);

  const unidentified = new Set<Socket>();
  http1.server.on("connection", (socket: Socket) => {
    const peer = socket.remoteAddress;
    const place = peer === undefined ? undefined : admission.take(socket, peer, addressOf(peer));
    if (place === undefined) {
      socket.destroy();
      return;
    }
    unidentified.add(socket);
    socket.once("close", () => unidentified.delete(socket));
    sniffProtocol(socket, limits.firstBytesTimeoutMs, (protocol) => {
      unidentified.delete(socket);
      if (protocol === "http1") {
        http1.accept(place);
      } else {
        http2.accept(place);
      }
    });
  });

  async function drain(): Promise<void> {
    http1.drain();
    http2.drain();
    // The close() of http.Server would also stop the timer that ends slow requests, and wait for them for ever.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(http1.server, resolve));
    const sweep = setInterval(() => {
      for (const socket of unidentified) {
        socket.destroy();
      }
      http1.server.closeIdleConnections();
    }, sweepIntervalMs);
    await closed;
    clearInterval(sweep);
    http1.server.close();
  }

  let stopped: Promise<void> | undefined;
  return {
    get draining() {
      return stopped !== undefined;
    },
    async listen(host, port) {
      http1.server.listen(port, host);
      await once(http1.server, "listening");
      // Such as too many open files: the connection is lost, the server is not.
      http1.server.on("error", (err) => log.error({ err }, "accepting a connection failed"));
      const address = http1.server.address() as AddressInfo;
      return { host: address.address, port: address.port };
    },
    stop(deadlineMs) {
      stopped ??= drain();
      if (deadlineMs !== undefined) {
        const deadline = setTimeout(admission.cut, deadlineMs);
        stopped.then(() => clearTimeout(deadline));
      }
      return stopped;
    },
  };
}

/** What an HTTP/2 client says first (RFC 9113 section 3.4); no HTTP/1.1 request begins so. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/**
 * Reads from a new connection until its protocol is clear, puts all that was read back, and tells.
 * A connection that stays silent, stops half-way or ends before that is destroyed.
 *
 * All 24 bytes count, because a first packet can be as short as one byte, and PROPFIND begins with P, too.
 */
export function sniffProtocol(
  socket: Socket,
  timeoutMs: number,
  tell: (protocol: "http1" | "http2") => void,
): void {
  let seen: Buffer = Buffer.alloc(0);
  const read = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      return;
    }
    // Mostly all of it comes at once, and may be long.
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, preface.length);
    const isHttp2 = seen.compare(preface, 0, length, 0, length) === 0;
    if (isHttp2 && length < preface.length) {
      return;
    }
    stop();
    socket.unshift(seen);
    // The stream has yet to notice both. If it notices them under Node's parser, it tells of going on when the parser has
    // stopped it already, and nothing stops it any more: all that comes is read, however much waits.
    process.nextTick(tell, isHttp2 ? "http2" : "http1");
  };
  const giveUp = () => socket.destroy();
  // A connection that breaks this early was nobody's request: there is nothing to log.
  const ignore = () => {};
  const timer = setTimeout(giveUp, timeoutMs);
  const stop = () => {
    clearTimeout(timer);
    socket.off("readable", read).off("end", giveUp).off("error", ignore).off("close", stop);
  };
  socket.on("readable", read).on("end", giveUp).on("error", ignore).on("close", stop);
}
