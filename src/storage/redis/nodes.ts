import { sleep } from "../../time/time.ts";
import { type Redis, redisScript } from "./connection.ts";
import { textsOf } from "./replies.ts";

export interface NodeReport {
  /** A new random id for each start of the node. */
  readonly id: string;
  readonly address: string;
  readonly version: string;
  readonly upMs: number;
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
}

interface NodesOptions {
  readonly id: string;
  /** The interval between announcements. A node is removed from the list after three intervals without an announcement. */
  readonly everyMs: number;
}

/** Disposing of this object removes this node from the list in Redis. */
export interface Nodes extends AsyncDisposable {
  /** The number of nodes, including this node, at the last announcement. */
  readonly count: number;
  announce(report: () => Omit<NodeReport, "id">): void;
}

/** A sorted set of node ids. The score is the time, by Redis's clock, after which a node is removed from the set. */
const listKey = "nodes";
const keyOf = (id: string) => `node:${id}`;

export const announceScript = redisScript(
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

/** Announces this node regularly, until the result is disposed of. */
export function joinNodes(redis: Redis, { id, everyMs }: NodesOptions): Nodes {
  let count = 1;
  let reportOf: (() => Omit<NodeReport, "id">) | undefined;
  const left = new AbortController();

  async function keepAnnouncing(): Promise<void> {
    while (!left.signal.aborted) {
      try {
        const text = reportOf ? JSON.stringify({ id, ...reportOf() }) : "";
        count = Number(await redis.run(announceScript, [listKey, keyOf(id)], [id, text, everyMs * 3]));
      } catch {
        // Ignore the failure: the connection has logged a failure of Redis, and a failure of the report must not end the process.
      }
      await sleep(everyMs, { signal: left.signal }).catch(() => {});
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
      // Ignore a failure, because the entries of this node expire after some seconds.
      await Promise.allSettled([redis.ask("ZREM", [listKey], [id]), redis.ask("DEL", [keyOf(id)])]);
    },
  };
}

/** Returns the reports sorted by address. Throws StoreUnavailable. */
export async function readNodes(redis: Redis): Promise<readonly NodeReport[]> {
  const ids = textsOf(await redis.ask("ZRANGE", [listKey], [0, -1]));
  const texts = ids.length === 0 ? [] : textsOf(await redis.ask("MGET", ids.map(keyOf)));
  return texts
    .filter((text) => text.startsWith("{"))
    .map((text): NodeReport => JSON.parse(text))
    .toSorted((a, b) => a.address.localeCompare(b.address) || b.upMs - a.upMs);
}
