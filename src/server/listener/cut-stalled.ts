import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";

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
  const open = new Map<ServerHttp2Stream, Waiting>();
  session.on("stream", (stream) => {
    open.set(stream, { bytes: 0, since: 0 });
    // Parts of one size look alike: that one was taken tells itself.
    stream.on("drain", () => open.set(stream, { bytes: 0, since: 0 }));
    stream.once("close", () => open.delete(stream));
  });
  const look = setInterval(() => {
    const now = performance.now();
    for (const [stream, { bytes, since }] of open) {
      const waiting = stream.bufferSize;
      if (waiting === 0 || waiting !== bytes) {
        open.set(stream, { bytes: waiting, since: now });
      } else if (now - since >= takeTimeoutMs) {
        // With a code: what ends without one looks whole to its reader.
        stream.close(constants.NGHTTP2_CANCEL);
        stream.destroy();
      }
    }
  }, takeTimeoutMs / looksPerTime);
  session.once("close", () => clearInterval(look));
}

interface Waiting {
  /** Bytes of the answer that its caller has not taken. */
  readonly bytes: number;
  /** Since when they are so many, by `performance.now()`. */
  readonly since: number;
}
