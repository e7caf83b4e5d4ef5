import type { Socket } from "node:net";

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
