import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The requests of one HTTP/1.1 connection: one is answered at a time. */
export interface RequestQueue {
  /** Takes a request that Node has read: begins it now, or when those before it are answered. */
  take(res: ServerResponse): void;
  /** Responses that have not ended: of the request that is under way, and of those that wait behind it. */
  readonly open: readonly ServerResponse[];
  /** The bytes that were read last, of which the parser is given pieces. */
  readonly packet: Buffer | undefined;
  /** Reads no more requests. The connection ends after the last answer to a request that was read to its end. */
  stop(): void;
}

/**
 * Node makes requests of all bytes that it is given before anybody can stop it. So it is given pieces this small, and no more
 * of them while a request is under way. The shortest requests have 30 bytes: at most 35 wait as objects, all others as bytes.
 */
const pieceBytes = 1024;

/** Bytes of early requests that are kept for a connection. Beyond that it ends with the answer that is under way. */
const earlyMaxBytes = 64 * 1024;

/**
 * How long a connection with early requests is not read. Not for ever, because only reading shows that the caller has left:
 * the end of the connection comes behind all that was sent.
 */
const pauseMs = 100;

export type InTurn = (work: () => void) => void;

/**
 * Calls back one after the other, each in a turn of the event loop: of hundreds of connections with early requests, one has its next
 * answered, and then whoever else has sent something is served.
 */
export function createTurns(): InTurn {
  const waiting: (() => void)[] = [];
  const run = () => {
    try {
      waiting[0]?.();
    } finally {
      waiting.shift();
      if (waiting.length > 0) {
        setImmediate(run);
      }
    }
  };
  return (work) => {
    if (waiting.push(work) === 1) {
      setImmediate(run);
    }
  };
}

/**
 * Puts itself between a socket and Node's parser, which listens to it already.
 *
 * @param begin answers a request
 * @param inTurn calls back in a turn of the event loop that is nobody else's
 */
export function createRequestQueue(
  socket: Socket,
  begin: (res: ServerResponse) => void,
  inTurn: InTurn,
): RequestQueue {
  const parsers = socket.listeners("data") as ((bytes: Buffer) => void)[];
  let open: ServerResponse[] = [];
  /** Undefined between the end of one answer and the next turn. */
  let underWay: ServerResponse | undefined;
  let early: Buffer[] = [];
  let earlyBytes = 0;
  let packet: Buffer | undefined;
  let stopped = false;
  let pause: NodeJS.Timeout | undefined;

  const isBusy = () => open[0]?.req.complete === true;
  const read = (bytes: Buffer) => (isBusy() || earlyBytes > 0 ? keep(bytes) : parse(bytes));

  function parse(bytes: Buffer): void {
    packet = bytes;
    let at = 0;
    for (; at < bytes.length && !stopped && !isBusy(); at += pieceBytes) {
      for (const parser of parsers) {
        parser.call(socket, bytes.subarray(at, at + pieceBytes));
      }
    }
    if (at < bytes.length) {
      keep(bytes.subarray(at));
    }
  }

  function keep(bytes: Buffer): void {
    if (!stopped && earlyBytes + bytes.length <= earlyMaxBytes) {
      early.push(bytes);
      earlyBytes += bytes.length;
    } else {
      stop();
    }
    socket.pause();
    pause ??= setTimeout(() => {
      pause = undefined;
      socket.resume();
    }, pauseMs);
  }

  function stop(): void {
    stopped = true;
    early = [];
    // What was not read to its end is not begun.
    open = open.filter((res) => res === underWay || res.req.complete);
    const last = open.at(-1);
    if (last) {
      last.shouldKeepAlive = false;
    }
  }

  function beginFirst(): void {
    const [first] = open;
    if (first && underWay === undefined) {
      underWay = first;
      begin(first);
    }
  }

  function goOn(): void {
    if (socket.destroyed) {
      return;
    }
    beginFirst();
    if (open.length === 0 && stopped) {
      socket.end();
    }
    if (!isBusy() && !stopped) {
      const bytes = Buffer.concat(early);
      early = [];
      earlyBytes = 0;
      parse(bytes);
      if (earlyBytes === 0) {
        clearTimeout(pause);
        pause = undefined;
        socket.resume();
      }
    }
  }

  function take(res: ServerResponse): void {
    open.push(res);
    res.once("close", () => {
      open = open.filter((other) => other !== res);
      underWay = underWay === res ? undefined : underWay;
      if (open.length > 0 || stopped || earlyBytes > 0) {
        inTurn(goOn);
      }
    });
    if (open.length === 1) {
      beginFirst();
    }
  }

  socket.on("data", read);
  for (const parser of parsers) {
    socket.off("data", parser);
  }
  socket.once("close", () => clearTimeout(pause));
  return {
    take,
    get open() {
      return open;
    },
    get packet() {
      return packet;
    },
    stop,
  };
}
