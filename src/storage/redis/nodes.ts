import { setTimeout as sleep } from "node:timers/promises";
import { type Redis, redisScript } from "./connection.ts";
import { textsOf } from "./replies.ts";

export interface NodeReport {
  /** The id is new after each start of the node. */
  readonly id: string;
  /** The address of the node, such as `http://node-1:8080`. */
  readonly address: string;
  readonly version: string;
  /** The time since the node became ready. */
  readonly upMs: number;
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
}

interface NodesOptions {
  readonly id: string;
  /** If three announcements in a row fail, the node counts as gone. */
  readonly everyMs: number;
}

/** Disposing of this object removes this node. */
export interface Nodes extends AsyncDisposable {
  /** The number of nodes when they were last counted, at least 1. */
  readonly count: number;
  announce(report: () => Omit<NodeReport, "id">): void;
}

/** In this sorted set, a node's score is the time when it counts as gone, by Redis's clock. */
const listKey = "nodes";
const keyOf = (id: string) => `node:${id}`;

/** Returns the number of nodes. */
const announceScript = redisScript(
  "announce_node",
  `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('ZCARD', KEYS[1])`,
);

/** This node counts from its first announcement on, which is sent at once. */
export function joinNodes(redis: Redis, { id, everyMs }: NodesOptions): Nodes {
  let count = 1;
  let reportOf: (() => Omit<NodeReport, "id">) | undefined;
  const left = new AbortController();

  async function keepAnnouncing(): Promise<void> {
    while (!left.signal.aborted) {
      const text = reportOf ? JSON.stringify({ id, ...reportOf() }) : "";
      try {
        count = Number(await redis.run(announceScript, [listKey, keyOf(id)], [id, text, everyMs * 3]));
      } catch {
        // The connection has logged the reason.
      }
      await sleep(everyMs, undefined, { signal: left.signal }).catch(() => {});
    }
  }

  const announcing = keepAnnouncing();
  return {
    get count() {
      return count;
    },
    announce(report) {
      reportOf = report;
    },
    async [Symbol.asyncDispose]() {
      left.abort();
      await announcing;
      // If this fails, the node expires after some seconds.
      await Promise.allSettled([redis.ask("ZREM", [listKey], [id]), redis.ask("DEL", [keyOf(id)])]);
    },
  };
}

/** Returns the reports in the order of the nodes' addresses. Throws StoreUnavailable. */
export async function readNodes(redis: Redis): Promise<readonly NodeReport[]> {
  const ids = textsOf(await redis.ask("ZRANGE", [listKey], [0, -1]));
  const texts = ids.length === 0 ? [] : textsOf(await redis.ask("MGET", ids.map(keyOf)));
  return texts
    .filter((text) => text.startsWith("{"))
    .map((text): NodeReport => JSON.parse(text))
    .toSorted((a, b) => a.address.localeCompare(b.address) || b.upMs - a.upMs);
}
