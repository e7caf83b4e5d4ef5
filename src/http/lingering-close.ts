import type { ServerHttp2Stream } from "node:http2";
import { outcomeOf } from "../request/context.ts";
import type { NodeRequest, NodeResponse } from "./message.ts";

/** What is read on and thrown away, so that an HTTP/1.1 connection can be kept. */
const worthReadingBytes = 64 * 1024;

/** How long the rest of a body is thrown away before the client is cut. */
const lingerMs = 1000;

/**
 * Ends an answer with its body, before the request has been read. Nobody may read the request any more.
 *
 * Merely closing an HTTP/1.1 connection with unread bytes resets it, and the reset overtakes the answer: of
 * clients that send 2 MB, a third saw "broken pipe" instead of the 413. So what still comes is thrown away for
 * a moment (RFC 9112 section 9.6).
 */
export function endBeforeBody(req: NodeRequest, res: NodeResponse, body: Buffer | undefined): void {
  if (!("stream" in res) && muchToCome(req)) {
    res.shouldKeepAlive = false;
  }
  if (body === undefined || "stream" in res || req.complete || res.shouldKeepAlive) {
    discardAfterAnswer(req, res);
    // An empty write would keep HTTP/2 from ending the stream with the headers.
    if (body === undefined) {
      res.end();
    } else {
      res.end(body);
    }
    return;
  }
  res.write(body);
  outcomeOf(req).answeredAt = performance.now();
  const end = () => {
    stopDiscarding();
    stopLingering();
    res.end();
  };
  const stopDiscarding = discardSlowly(req.once("close", end));
  const stopLingering = linger(req, end);
}

/**
 * Throws away what is still to come of a request when its answer ends. Whoever has read of it until then may have gone
 * without a word, as Connect does after a message too many: Node's iterator would still be listening, and nothing flow.
 */
export function discardAfterAnswer(req: NodeRequest, res: NodeResponse): void {
  if (req.complete) {
    return;
  }
  const leftByReader = () => req.removeAllListeners("readable");
  if ("stream" in res) {
    res.stream.once("finish", () => discardStream(leftByReader(), res.stream));
    return;
  }
  // Before Node, which throws away by itself what nobody has begun to read, as fast as it comes.
  res.prependOnceListener("finish", () => discardRest(leftByReader()));
}

/** Bytes that are thrown away at once, and how long it then waits for each body that is thrown away: 16 MB a second of all. */
const discardedAtOnceBytes = 64 * 1024;
const discardPauseMs = 4;

let discarding = 0;

/**
 * Throws away what still comes, the slower the more bodies there are: to read a megabyte takes milliseconds of the thread
 * and of V8's collectors, and whoever is refused with one could send the next at once.
 *
 * @returns what ends it, which has to be called: a request whose answer has ended is never closed by itself.
 */
function discardSlowly(req: NodeRequest): () => void {
  discarding++;
  let isOver = false;
  let bytes = 0;
  const goOnLater = () => setTimeout(() => req.resume(), discardPauseMs * discarding);
  let pause: NodeJS.Timeout | undefined = goOnLater();
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= discardedAtOnceBytes) {
      bytes = 0;
      req.pause();
      pause = isOver ? undefined : goOnLater();
    }
  });
  req.pause();
  return () => {
    discarding -= isOver ? 0 : 1;
    isOver = true;
    clearTimeout(pause);
  };
}

/** Connections of one address that linger at a time. They take its places. */
const lingeringMax = 100;

const lingering = new Map<string, Set<() => void>>();

/** Ends a connection in a moment, or when too many of its address linger behind it. */
function linger({ socket }: Pick<NodeRequest, "socket">, end: () => void): () => void {
  const address = socket.remoteAddress ?? "";
  const others = lingering.get(address) ?? new Set();
  lingering.set(address, others.add(end));
  const timer = setTimeout(end, lingerMs);
  const [longest] = others;
  if (others.size > lingeringMax) {
    longest?.();
  }
  return () => {
    clearTimeout(timer);
    if (others.delete(end) && others.size === 0) {
      lingering.delete(address);
    }
  };
}

/** Of a request over HTTP/1.1, whose connection goes on behind it if it ends in a moment. */
function discardRest(req: NodeRequest): void {
  if (req.complete || req.socket.destroyed) {
    req.resume();
    return;
  }
  const { socket } = req;
  const stopDiscarding = discardSlowly(req);
  const stopLingering = linger(req, () => socket.destroy());
  const stop = () => {
    stopDiscarding();
    stopLingering();
    socket.off("close", stop);
  };
  req.once("end", stop);
  // Its answer has ended, so Node does not close the request with its connection.
  socket.once("close", stop);
}

/** Closing the stream at once would be right (RFC 9113 section 8.1), but Node's client loses the answer over it. */
function discardStream(req: NodeRequest, stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) {
    return;
  }
  // Trailers leave in two turns of the loop after the answer's end. If the thread was late by the whole time, they are still to go, and a
  // reset would overtake them: a client of gRPC would get an answer without a status.
  const timer = setTimeout(() => setImmediate(() => setImmediate(() => stream.close())), lingerMs);
  const stopDiscarding = discardSlowly(req);
  stream.once("close", () => {
    clearTimeout(timer);
    stopDiscarding();
  });
}

/** Whether so much of the body is still to come that the connection had better end with this answer. */
export function muchToCome(req: NodeRequest): boolean {
  if (req.httpVersionMajor > 1 || req.complete) {
    return false;
  }
  const { "content-length": length, "transfer-encoding": coding } = req.headers;
  return coding !== undefined || Number(length ?? 0) > worthReadingBytes;
}
