import type { Duplex } from "node:stream";
import { outcomeOf } from "../request/context.ts";
import { after, now, soon, type Timer } from "../time/time.ts";
import { hasTooManyParts } from "./joined-request.ts";
import type { NodeRequest, NodeResponse } from "./message.ts";

/** The maximum number of unread bytes that are discarded so that an HTTP/1.1 connection can be used again. */
const worthReadingBytes = 64 * 1024;

/** Milliseconds in which a client can read the answer before its connection is destroyed. */
const lingerMs = 1000;

export function endSoon(socket: Duplex, lastWords = ""): void {
  socket.end(lastWords);
  const timer = after(lingerMs, () => socket.destroy());
  socket.once("close", () => timer.cancel());
}

/** Milliseconds in which an answer is sent before its stream is reset. Without this pause, the reset could overtake the answer. */
const resetPauseMs = 50;

/** The number of bytes that are discarded before each pause. The rate is 4 MB per second. */
const discardedAtOnceBytes = 64 * 1024;
const discardPauseMs = 16;

/**
 * Sends an answer before the request has been read completely. Do not read the request after this call.
 * Unread bytes are discarded for a second: closing a connection with unread bytes can lose the answer (RFC 9112 section 9.6).
 */
export function endBeforeBody(req: NodeRequest, res: NodeResponse, body: Buffer | undefined): void {
  if (!("stream" in res) && hasLongRest(req)) {
    res.shouldKeepAlive = false;
  }
  if ("stream" in res || req.complete || res.shouldKeepAlive) {
    discardAfterAnswer(req, res);
    // Do not write an empty body: HTTP/2 could then not end the stream with the headers.
    if (body === undefined) {
      res.end();
    } else {
      res.end(body);
    }
    return;
  }
  // Write the answer but do not end the response yet, because `end` would close the connection.
  if (body === undefined) {
    res.flushHeaders();
  } else {
    res.write(body);
  }
  outcomeOf(req).answeredAt = now();
  discard(req, () => res.end());
}

/** Discards the rest of the request after the answer. If this takes more than a second, an HTTP/1.1 connection is closed. */
export function discardAfterAnswer(req: NodeRequest, res: NodeResponse): void {
  if (req.complete) {
    return;
  }
  if ("stream" in res) {
    const { stream } = res;
    // RFC 9113 section 8.1 allows a server to close the stream at once, but the HTTP/2 client of Node would lose the answer.
    // Trailers are sent two turns of the event loop after the end of the answer. If the thread was blocked for a second, the
    // reset could be sent before the trailers.
    const close = () => soon(() => soon(() => stream.close()));
    // Each frame of a body in too many frames costs time until its stream is closed.
    const discardRest = () => (hasTooManyParts(req) ? after(resetPauseMs, close) : discard(req, close));
    stream.once("finish", () => stream.closed || discardRest());
  } else {
    // This listener must run before Node's own listener, which would read and discard the body without a limit.
    res.prependOnceListener("finish", () => discard(req, () => req.complete || req.socket.destroy()));
  }
}

/** Discards arriving bytes until the request ends, its connection closes, or a second has passed. Then calls `end`. */
function discard(req: NodeRequest, end: () => void): void {
  // After too many messages, Connect stops reading but does not remove its listener. With this listener, no data would arrive.
  req.removeAllListeners("readable");
  let bytes = 0;
  let pause: Timer | undefined;
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= discardedAtOnceBytes) {
      bytes = 0;
      req.pause();
      pause = after(discardPauseMs, () => req.resume());
    }
  });
  req.resume();
  // If the answer has already ended, the request emits no `close` when its connection closes.
  const connection = "stream" in req ? req.stream : req.socket;
  const stop = () => {
    timer.cancel();
    pause?.cancel();
    req.off("end", stop);
    connection.off("close", stop);
    end();
  };
  const timer = after(lingerMs, stop);
  req.once("end", stop);
  connection.once("close", stop);
}

/** True if the unread rest of the body is too long to be discarded. The connection should then be closed after the answer. */
export function hasLongRest(req: NodeRequest): boolean {
  if (req.httpVersionMajor > 1 || req.complete) {
    return false;
  }
  const { "content-length": length, "transfer-encoding": coding } = req.headers;
  return coding !== undefined || Number(length ?? 0) > worthReadingBytes;
}
