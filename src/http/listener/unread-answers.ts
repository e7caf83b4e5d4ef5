import { constants } from "node:http2";
import { outcomeOf } from "../../request/context.ts";
import { outsideRequests } from "../../request/owner.ts";
import { every, now, soon, type Timer } from "../../time/time.ts";
import type { NodeResponse } from "../message.ts";

/** Closes answers whose clients read nothing, because the bytes that wait for them stay in memory. */
export interface UnreadAnswers {
  /** Watches an answer until it closes. */
  watch(res: NodeResponse): void;
}

const lookEveryMs = 1000;

interface Watched {
  /** The time of the last look, or `-Infinity` before the first look. */
  lookedAt: number;
  /** The number of bytes that waited at the last look. */
  waiting: number;
  /** The time of the last look that found no waiting bytes or fewer bytes than before. */
  readAt: number;
}

/**
 * Closes an answer if bytes have waited for `unreadMs` and the client read none of them. Node's timeouts are useless here: every
 * byte that the client sends restarts them. While the heap is nearly full, no progress since the last look is enough.
 */
export function createUnreadAnswers(unreadMs: number, isHeapFull: () => boolean): UnreadAnswers {
  const answers = new Map<NodeResponse, Watched>();
  let timer: Timer | undefined;

  function look(): void {
    const nowMs = now();
    const isFull = isHeapFull();
    for (const [res, watched] of answers) {
      const waiting = waitingBytes(res);
      if (waiting === 0 || waiting < watched.waiting) {
        watched.readAt = nowMs;
      } else if (
        Math.max(watched.readAt, pieceSentAt(res)) <= (isFull ? watched.lookedAt : nowMs - unreadMs)
      ) {
        closeUnread(res);
      }
      watched.waiting = waiting;
      watched.lookedAt = nowMs;
    }
  }

  /** Waits until the bytes that other timers have just written are sent. */
  function lookLater(): void {
    soon(() => soon(look));
  }

  return {
    watch(res) {
      const watched = { lookedAt: Number.NEGATIVE_INFINITY, waiting: 0, readAt: now() };
      answers.set(res, watched);
      timer ??= outsideRequests(() => every(Math.min(lookEveryMs, unreadMs / 4), lookLater));
      // The client has read bytes, even if as many bytes wait again at the next look.
      const read = () => {
        watched.waiting = Number.POSITIVE_INFINITY;
      };
      res.on("drain", read);
      res.once("close", () => {
        answers.delete(res);
        if (answers.size === 0) {
          timer?.cancel();
          timer = undefined;
        }
      });
    },
  };
}

function pieceSentAt(res: NodeResponse): number {
  try {
    return outcomeOf(res.req).pieceSentAt;
  } catch {
    // A request that could not be identified has no outcome.
    return Number.NEGATIVE_INFINITY;
  }
}

function waitingBytes(res: NodeResponse): number {
  if ("stream" in res) {
    return res.stream?.bufferSize ?? 0;
  }
  return res.socket?.writableLength ?? 0;
}

function closeUnread(res: NodeResponse): void {
  if ("stream" in res) {
    // Without an error code, the client would mistake the incomplete answer for a complete answer.
    res.stream.close(constants.NGHTTP2_CANCEL);
    res.stream.destroy();
  } else {
    res.destroy();
  }
}
