import type { Duplex } from "node:stream";
import { outcomeOf } from "../request/context.ts";
import type { NodeRequest, NodeResponse } from "./message.ts";

/** The longest rest of a body that is discarded to keep an HTTP/1.1 connection. */
const worthReadingBytes = 64 * 1024;

/** Milliseconds to read an answer before a connection with unread bytes is destroyed: its reset would overtake the answer. */
const lingerMs = 1000;

export function endSoon(socket: Duplex, lastWords = ""): void {
  socket.end(lastWords);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/** Bytes discarded before each pause: 4 MB per second, so that a body does not block other requests (a megabyte takes 3 ms). */
const discardedAtOnceBytes = 64 * 1024;
const discardPauseMs = 16;

/**
 * Ends an answer before the request has been read. Nothing may read the request afterwards. Bytes that still arrive are discarded
 * for a second: closing an HTTP/1.1 connection with unread bytes resets it, and a third of the clients that sent 2 MB saw "broken
 * pipe" instead of the status 413 (RFC 9112 section 9.6).
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

/** An HTTP/1.1 connection is kept if discarding the rest of its request takes less than a second. */
export function discardAfterAnswer(req: NodeRequest, res: NodeResponse): void {
  if (req.complete) {
    return;
  }
  if ("stream" in res) {
    const { stream } = res;
    // RFC 9113 section 8.1 permits closing the stream at once, but Node's client then loses the answer. Trailers are sent two
    // turns of the event loop after the end of the answer. If the thread was late by a second, a reset would overtake them.
    const close = () => setImmediate(() => setImmediate(() => stream.close()));
    stream.once("finish", () => stream.closed || discard(req, close));
  } else {
    // This runs before Node's own listener, which would discard an unread body as fast as it arrives.
    res.prependOnceListener("finish", () => discard(req, () => req.complete || req.socket.destroy()));
  }
}

/** Discards arriving bytes until the request ends or its connection closes, for at most a second. */
function discard(req: NodeRequest, end: () => void): void {
  // Connect stops reading after too many messages but leaves its listener, so that no data would flow.
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
  // Node does not close a request together with its connection if its answer has already ended.
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

/** True if the unread rest of the body is too long to be worth reading: the connection should then end after this answer. */
export function muchToCome(req: NodeRequest): boolean {
  if (req.httpVersionMajor > 1 || req.complete) {
    return false;
  }
  const { "content-length": length, "transfer-encoding": coding } = req.headers;
  return coding !== undefined || Number(length ?? 0) > worthReadingBytes;
}
