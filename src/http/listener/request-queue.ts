import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { endSoon } from "../lingering-close.ts";

/** The requests of one HTTP/1.1 connection. One is answered at a time; a few that arrive meanwhile wait and are answered after it. */
export interface RequestQueue {
  take(res: ServerResponse): void;
  /** The response to the request that is being answered, or is next. */
  readonly first: ServerResponse | undefined;
  /** Takes no more requests. The connection ends after the answer to the last one that has arrived whole. */
  stop(): void;
}

/**
 * @param begin answers a request
 * @param waitingMax requests that may wait at a time. If a client sends more, its connection ends after the answer under way: Node makes
 * objects of all the requests that it reads.
 */
export function createRequestQueue(
  socket: Socket,
  begin: (res: ServerResponse) => void,
  waitingMax: number,
): RequestQueue {
  let underWay: ServerResponse | undefined;
  let waiting: ServerResponse[] = [];
  let isStopped = false;

  function beginNext(): void {
    if (underWay || socket.destroyed) {
      return;
    }
    const next = waiting.shift();
    if (next) {
      underWay = next;
      next.once("close", () => end(next));
      begin(next);
    } else if (isStopped) {
      endSoon(socket);
    }
  }

  function end(res: ServerResponse): void {
    underWay = undefined;
    if (!res.shouldKeepAlive) {
      // This was the last answer of the connection: Node writes no other, and its response would never close.
      waiting = [];
    }
    // The next one in a turn of the event loop of its own: other connections have theirs in between.
    setImmediate(beginNext);
  }

  function stop(): void {
    isStopped = true;
    waiting = waiting.filter(({ req }) => req.complete);
    const last = waiting.at(-1) ?? underWay;
    if (last) {
      last.shouldKeepAlive = false;
    }
  }

  return {
    take(res) {
      if (isStopped) {
        return;
      }
      if (waiting.length === waitingMax) {
        waiting = [];
        stop();
        socket.pause();
        return;
      }
      waiting.push(res);
      beginNext();
    },
    get first() {
      return underWay ?? waiting[0];
    },
    stop,
  };
}
