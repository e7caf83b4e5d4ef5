import { once } from "node:events";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Log } from "../../log/log.ts";
import { identifyRequest, outcomeOf } from "../../request/context.ts";
import { createInFlight } from "../../request/in-flight.ts";
import { type Owner, ownEvents, runAs } from "../../request/owner.ts";
import { after, every, now, soon, turn } from "../../time/time.ts";
import type { RequestHandler } from "../message.ts";
import { corsOfUnparsed } from "./cors.ts";
import { type CountRequestOptions, createCountRequest } from "./count-request.ts";
import { createDispatch, type DispatchOptions } from "./dispatch.ts";
import { createHttp1Server } from "./http1-server.ts";
import { createHttp2Server } from "./http2-server.ts";
import { type ListenerLimits, listenerLimits } from "./limits.ts";
import { createPace } from "./pace.ts";
import { createUnreadAnswers } from "./unread-answers.ts";
import { createFullWarning } from "./warn-full.ts";

/** Listens on one port for HTTP/1.1 and HTTP/2 without TLS. */
export interface Listener {
  /** True after `stop` was called. The listener then finishes the requests in flight, and accepts no new requests. */
  readonly draining: boolean;
  /** Replaces the handlers for requests that arrive later. */
  answerWith(handlers: readonly RequestHandler[]): void;
  /** Resolves with the address. Port 0 means any free port. Rejects if the port is not available. */
  listen(host: string, port: number): Promise<{ host: string; port: number }>;
  /** Resolves when all answers are sent. Destroys connections at the deadline. A second call can set an earlier deadline. */
  stop(deadlineMs?: number): Promise<void>;
}

export interface ListenerOptions extends Omit<DispatchOptions, "headersMaxBytes">, CountRequestOptions {
  readonly log: Pick<Log, "error" | "warn">;
  readonly connectionsPerAddress: number;
  readonly limits?: Partial<ListenerLimits>;
}

/** During a stop, the listener closes idle connections at this interval, in milliseconds. */
const sweepIntervalMs = 100;

/** During a stop, the listener waits this many milliseconds for the first bytes of a connection. */
const silentMaxMs = 1000;

/** During a stop, the listener accepts connections from the kernel's queue for at most this many milliseconds. */
const acceptMaxMs = 1000;

export function createListener(options: ListenerOptions): Listener {
  const { corsOrigins, log, isRpcPath, reportRefused, callerOf, connectionsPerAddress, isHeapFull } = options;
  const limits = { ...listenerLimits, ...options.limits };
  const handlers = [...options.handlers];
  const answer = createDispatch({ ...options, handlers, headersMaxBytes: limits.headersMaxBytes });
  const countRequest = createCountRequest(options, limits);
  const unread = createUnreadAnswers(limits.unreadTimeoutMs, isHeapFull);
  const logUnread = (socket: Socket, code: string) => {
    const unread = { method: "", url: "", headers: {}, socket };
    const { id } = identifyRequest(unread, isRpcPath);
    outcomeOf(unread).code = code;
    reportRefused(unread, now());
    return id;
  };
  const http1 = createHttp1Server(
    (req, res) => {
      const counted = countRequest(req, res);
      if (counted.kind === "reset") {
        req.socket.destroy();
        return;
      }
      if (counted.kind === "counted" && counted.isLast) {
        res.shouldKeepAlive = false;
      }
      unread.watch(res);
      answer(req, res, counted);
    },
    limits,
    logUnread,
    corsOfUnparsed(corsOrigins),
  );
  const http2 = createHttp2Server(answer, countRequest, limits, options.refuse, unread);

  const connections = new Set<Socket>();
  const unidentified = new Set<Socket>();
  const inFlight = createInFlight({ max: limits.connectionsMax });
  const warnFull = createFullWarning("connections", log);
  const waitOf = createPace(
    Math.max(limits.connectionsPerSecond, connectionsPerAddress),
    limits.connectionsAtOnce,
  );
  let accepted = 0;
  const accept = (socket: Socket) => {
    const { remoteAddress: address } = socket;
    // The address of a connection is undefined if the connection has already ended.
    const caller = address && callerOf({ address, forwardedFor: undefined });
    const full = address && inFlight.fullFor(caller, connectionsPerAddress);
    if (full) {
      warnFull(full);
    }
    const waitMs = caller && !full ? waitOf(caller) : 0;
    if (!address || full || waitMs === undefined) {
      socket.destroy();
      return;
    }
    const counted = inFlight.take(caller);
    connections.add(socket);
    unidentified.add(socket);
    socket.once("close", () => {
      connections.delete(socket);
      unidentified.delete(socket);
      counted[Symbol.dispose]();
    });
    sniffProtocol(socket, waitMs, limits.headersTimeoutMs, (protocol) => {
      unidentified.delete(socket);
      if (protocol === "http1") {
        http1.accept(socket);
      } else {
        http2.accept(socket);
      }
    });
  };
  http1.server.on("connection", (socket: Socket) => {
    accepted++;
    const owner: Owner = { fields: {}, end: () => socket.destroy() };
    ownEvents(socket, owner);
    runAs(owner, () => accept(socket));
  });

  /** Accepts the connections in the kernel's queue, because closing the port would reset these connections. */
  async function acceptWaiting(): Promise<void> {
    const endsAt = now() + acceptMaxMs;
    let before: number;
    do {
      before = accepted;
      // In the first turn of the event loop, Node may have accepted connections already. So wait for a second turn.
      await turn();
      await turn();
    } while (accepted > before && now() < endsAt);
  }

  async function drain(): Promise<void> {
    http1.drain();
    http2.drain();
    await acceptWaiting();
    // `close` of http.Server would stop the timer that ends slow requests, and would then wait for these requests forever.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(http1.server, resolve));
    const cutSilent = after(silentMaxMs, () => {
      for (const socket of unidentified) {
        socket.destroy();
      }
    });
    // `soon` waits until all arrived bytes are read. Unread bytes would reset a connection that is closed.
    const sweep = every(sweepIntervalMs, () => soon(() => http1.server.closeIdleConnections()));
    await closed;
    cutSilent.cancel();
    sweep.cancel();
    http1.server.close();
  }

  let stopped: Promise<void> | undefined;
  return {
    get draining() {
      return stopped !== undefined;
    },
    answerWith(later) {
      handlers.splice(0, handlers.length, ...later);
    },
    async listen(host, port) {
      http1.server.listen(port, host);
      await once(http1.server, "listening");
      // An example is too many open files. Only this connection is lost, and the server continues.
      http1.server.on("error", (err) => log.error({ err }, "accepting a connection failed"));
      const address = http1.server.address() as AddressInfo;
      return { host: address.address, port: address.port };
    },
    stop(deadlineMs) {
      stopped ??= drain();
      if (deadlineMs !== undefined) {
        const deadline = after(deadlineMs, () => {
          for (const socket of connections) {
            socket.destroy();
          }
        });
        const clear = () => deadline.cancel();
        stopped.then(clear, clear);
      }
      return stopped;
    },
  };
}

/** An HTTP/2 client sends these bytes first (RFC 9113 section 3.4). An HTTP/1.1 request never begins with these bytes. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Detects the protocol of a connection from its first bytes, after `waitMs`. Destroys a connection that sends nothing. */
function sniffProtocol(
  socket: Socket,
  waitMs: number,
  timeoutMs: number,
  report: (protocol: "http1" | "http2") => void,
): void {
  let seen: Buffer = Buffer.alloc(0);
  const read = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      return;
    }
    // Do not copy the first packet. This packet can be long, and usually no other packet is needed.
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, preface.length);
    // Compare the complete preface: a packet can be a single byte, and the HTTP/1.1 method PROPFIND also begins with P.
    const isHttp2 = seen.compare(preface, 0, length, 0, length) === 0;
    if (isHttp2 && length < preface.length) {
      return;
    }
    stop();
    socket.unshift(seen);
    // Wait for the bytes of `unshift`. Otherwise `resume` is emitted after Node's parser has paused, and reading has no limit.
    process.nextTick(report, isHttp2 ? "http2" : "http1");
  };
  const giveUp = () => socket.destroy();
  // If a connection breaks this early, there is no request to log.
  const ignore = () => {};
  const timer = after(timeoutMs, giveUp);
  const begin = () => socket.on("readable", read);
  const waiting = waitMs > 0 ? after(waitMs, begin) : undefined;
  const stop = () => {
    timer.cancel();
    waiting?.cancel();
    socket.off("readable", read).off("end", giveUp).off("error", ignore).off("close", stop);
  };
  socket.on("end", giveUp).on("error", ignore).on("close", stop);
  if (waiting === undefined) {
    begin();
  }
}
