import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject } from "../../text/plain-text.ts";
import { type Redis, redisScript } from "./connection.ts";

/** The report that a node sends every few seconds. */
export interface NodeReport {
  /** Unique to each start. */
  readonly id: string;
  /** `http://node-1:8080` */
  readonly address: string;
  /** Of Kibitz. */
  readonly version: string;
  /** Time since the node was ready, in milliseconds. */
  readonly upMs: number;
  readonly slots: number;
  /** Searches that have a slot, and that wait for one. */
  readonly running: number;
  readonly waiting: number;
}

interface NodesOptions {
  /** Of this node. */
  readonly id: string;
  /** Between two announcements, in milliseconds. If three in a row fail, the node is gone. */
  readonly everyMs: number;
}

/** The nodes that share a Redis. Disposing of it takes this one from among them. */
export interface Nodes extends AsyncDisposable {
  /** How many there were when they could last be counted, at least 1. */
  readonly count: number;
  /** Says from now on what this node is. */
  announce(report: () => Omit<NodeReport, "id">): void;
}

/** Says that a node is there, and how many are. A node's clock is not asked. */
const announceNode = redisScript(
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

const leaveNodes = redisScript(
  "leave_nodes",
  `
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[1], ARGV[1])`,
);

const listKey = "nodes";
const keyOf = (id: string) => `node:${id}`;
/** Counts as a node from the first announcement on, which is made at once. */
export function joinNodes(redis: Redis, { id, everyMs }: NodesOptions): Nodes {
  let count = 1;
  let report: (() => Omit<NodeReport, "id">) | undefined;
  const left = new AbortController();

  async function announceOnce(): Promise<void> {
    const text = report ? JSON.stringify({ id, ...report() }) : "";
    const answer = await redis.run(announceNode, [listKey, keyOf(id)], [id, text, everyMs * 3]);
    count = Math.max(1, Number(answer));
  }

  async function keepAnnouncing(): Promise<void> {
    while (!left.signal.aborted) {
      await announceOnce().catch(() => {
        // The log has it from the connection, and it is tried again.
      });
      await sleep(everyMs, undefined, { signal: left.signal }).catch(() => {});
    }
  }

  const announcing = keepAnnouncing();
  return {
    get count() {
      return count;
    },
    announce(told) {
      report = told;
    },
    async [Symbol.asyncDispose]() {
      left.abort();
      await announcing;
      await redis.run(leaveNodes, [listKey, keyOf(id)], [id]).catch(() => {
        // Then it is gone in some seconds.
      });
    },
  };
}

/** The nodes that have announced a report, in the order of addresses. @throws StoreUnavailable */
export async function readNodes(redis: Redis): Promise<readonly NodeReport[]> {
  const ids = textsIn(await redis.ask("ZRANGE", [listKey], [0, -1]));
  const texts = ids.length === 0 ? [] : textsIn(await redis.ask("MGET", ids.map(keyOf)));
  return texts
    .map(reportFrom)
    .filter((report) => report !== undefined)
    .toSorted((a, b) => a.address.localeCompare(b.address) || b.upMs - a.upMs);
}

function textsIn(reply: unknown): readonly string[] {
  return Array.isArray(reply) ? reply.filter((each) => typeof each === "string") : [];
}

/** Undefined for a text that is no report, and for a node that has not announced one yet. */
function reportFrom(text: string): NodeReport | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isReport(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function isReport(json: unknown): json is NodeReport {
  if (!isJsonObject(json)) {
    return false;
  }
  const { id, address, version, upMs, slots, running, waiting } = json;
  return (
    [id, address, version].every((text) => typeof text === "string") &&
    [upMs, slots, running, waiting].every((number) => Number.isSafeInteger(number))
  );
}
