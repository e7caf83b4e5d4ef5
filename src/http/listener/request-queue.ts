import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ownerNow, runAs } from "../../request/owner.ts";
import { soon } from "../../time/time.ts";
import { endSoon } from "../lingering-close.ts";
import { headerBytes } from "./check-request.ts";
import type { ListenerLimits } from "./limits.ts";

type WaitingLimits = Pick<ListenerLimits, "requestsWaitingMax" | "waitingHeadersMaxBytes">;

/** The requests of one HTTP/1.1 connection. Requests are answered one after the other. */
export interface RequestQueue {
  take(res: ServerResponse): void;
  /** The response in progress. If no response is in progress, the response to the next request. */
  readonly first: ServerResponse | undefined;
  /** Accepts no more requests. The connection ends after the answer to the last request that has arrived completely. */
  stop(): void;
}

/** If too many requests or headers wait, the connection is closed, because each waiting request uses memory. */
export function createRequestQueue(
  socket: Socket,
  begin: (res: ServerResponse) => void,
  { requestsWaitingMax, waitingHeadersMaxBytes }: WaitingLimits,
): RequestQueue {
  let underWay: ServerResponse | undefined;
  let waiting: ServerResponse[] = [];
  let isStopped = false;
  const connection = ownerNow();

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
      // This was the last answer on the connection, so the waiting requests are never answered.
      waiting = [];
    }
    // `soon` lets other connections run before the next request, which does not belong to the ended request.
    runAs(connection, () => soon(beginNext));
  }

  function waitingBytes(more: ServerResponse): number {
    const all = underWay ? [...waiting, more] : waiting;
    return all.reduce((bytes, { req }) => bytes + headerBytes(req.rawHeaders), 0);
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
      if (waiting.length === requestsWaitingMax || waitingBytes(res) > waitingHeadersMaxBytes) {
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
