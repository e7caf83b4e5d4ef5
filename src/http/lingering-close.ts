import type { Duplex } from "node:stream";
import { outcomeOf } from "../request/context.ts";
import type { NodeRequest, NodeResponse } from "./message.ts";

/** The rest of a body up to this length is read and discarded, to keep an HTTP/1.1 connection for the next request. */
const worthReadingBytes = 64 * 1024;

/** Time for a client to read an answer before its connection is destroyed: the reset for unread bytes would overtake the answer. */
const lingerMs = 1000;

/** Ends a connection, and destroys it if the client has not closed it a second later. */
export function endSoon(socket: Duplex, lastWords = ""): void {
  socket.end(lastWords);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/**
 * The rest of a body is discarded at 4 MB a second: this many bytes at once, and then a pause, in which others are served. Reading a
 * megabyte, the largest body of any call, takes 3 ms of the thread.
 */
const discardedAtOnceBytes = 64 * 1024;
const discardPauseMs = 16;

/**
 * Ends an answer with its body, before the request has been read. Nothing may read the request any more.
 *
 * To close an HTTP/1.1 connection with unread bytes resets it, and the reset overtakes the answer: of clients that send 2 MB, a third
 * saw "broken pipe" instead of the 413. So the bytes that still come are discarded for a second (RFC 9112 section 9.6).
 */
export function endBeforeBody(req: NodeRequest, res: NodeResponse, body: Buffer | undefined): void {
  if (!("stream" in res) && muchToCome(req)) {
    res.shouldKeepAlive = false;
  }
  if ("stream" in res || req.complete || res.shouldKeepAlive) {
    discardAfterAnswer(req, res);
    // An empty write would keep HTTP/2 from ending the stream with the headers.
    if (body === undefined) {
      res.end();
    } else {
      res.end(body);
    }
    return;
  }
  // The end of the response would close the connection.
  if (body === undefined) {
    res.flushHeaders();
  } else {
    res.write(body);
  }
  outcomeOf(req).answeredAt = performance.now();
  discard(req, () => res.end());
}

/** Discards the rest of a request when its answer ends; over HTTP/1.1 the connection is kept if that takes less than a second. */
export function discardAfterAnswer(req: NodeRequest, res: NodeResponse): void {
  if (req.complete) {
    return;
  }
  if ("stream" in res) {
    const { stream } = res;
    // To close the stream at once would be right (RFC 9113 section 8.1), but Node's client loses the answer then. Trailers leave in two
    // turns of the event loop after the end of the answer: if the thread was late by a second, a reset would overtake them.
    const close = () => setImmediate(() => setImmediate(() => stream.close()));
    stream.once("finish", () => stream.closed || discard(req, close));
  } else {
    // Before Node, which by itself discards a body that nothing has begun to read, as fast as it comes.
    res.prependOnceListener("finish", () => discard(req, () => req.complete || req.socket.destroy()));
  }
}

/** Discards what still comes of a request, until it ends or its connection closes, but for a second at most. */
function discard(req: NodeRequest, end: () => void): void {
  // Connect stops reading after a message too many, and leaves its listener there: nothing would flow.
  req.removeAllListeners("readable");
  let bytes = 0;
  let pause: NodeJS.Timeout | undefined;
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= discardedAtOnceBytes) {
      bytes = 0;
      req.pause();
      pause = setTimeout(() => req.resume(), discardPauseMs);
    }
  });
  req.resume();
  // Node does not close a request whose answer has ended together with its connection.
  const connection = "stream" in req ? req.stream : req.socket;
  const stop = () => {
    clearTimeout(timer);
    clearTimeout(pause);
    req.off("end", stop);
    connection.off("close", stop);
    end();
  };
  const timer = setTimeout(stop, lingerMs);
  req.once("end", stop);
  connection.once("close", stop);
}

/** True if so much of the body is still to come that the connection should end with this answer. */
export function muchToCome(req: NodeRequest): boolean {
  if (req.httpVersionMajor > 1 || req.complete) {
    return false;
  }
  const { "content-length": length, "transfer-encoding": coding } = req.headers;
  return coding !== undefined || Number(length ?? 0) > worthReadingBytes;
}
