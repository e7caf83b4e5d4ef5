import { setTimeout as sleep } from "node:timers/promises";
import { type Redis, redisScript } from "./connection.ts";
import { textsOf } from "./replies.ts";

/** The report that a node sends every few seconds. */
export interface NodeReport {
  /** Id of the node, which is new after each start. */
  readonly id: string;
  /** Address of the node, such as `http://node-1:8080`. */
  readonly address: string;
  /** The version of Kibitz. */
  readonly version: string;
  /** Time since the node became ready, in milliseconds. */
  readonly upMs: number;
  readonly slots: number;
  /** The number of searches that have a slot; the next field is the number of searches that wait for one. */
  readonly running: number;
  readonly waiting: number;
}

interface NodesOptions {
  /** The id of this node. */
  readonly id: string;
  /** Interval between two announcements, in milliseconds. If three in a row fail, the node counts as gone. */
  readonly everyMs: number;
}

/** The nodes that share a Redis. Disposing of this object removes this node. */
export interface Nodes extends AsyncDisposable {
  /** The number of nodes when they were last counted, at least 1. */
  readonly count: number;
  /** Starts to send the reports of this node. */
  announce(report: () => Omit<NodeReport, "id">): void;
}

/** Name of the sorted set of nodes. A node's score is the time when it counts as gone, by Redis's clock. */
const listKey = "nodes";
const keyOf = (id: string) => `node:${id}`;

/** Announces a node. Returns the number of nodes. */
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

/** Joins the nodes that share a Redis. This node counts from its first announcement on, which is sent at once. */
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

/**
 * Returns the reports of all nodes that have sent one, in the order of their addresses.
 *
 * @throws StoreUnavailable
 */
export async function readNodes(redis: Redis): Promise<readonly NodeReport[]> {
  const ids = textsOf(await redis.ask("ZRANGE", [listKey], [0, -1]));
  const texts = ids.length === 0 ? [] : textsOf(await redis.ask("MGET", ids.map(keyOf)));
  return texts
    .filter((text) => text.startsWith("{"))
    .map((text): NodeReport => JSON.parse(text))
    .toSorted((a, b) => a.address.localeCompare(b.address) || b.upMs - a.upMs);
}
