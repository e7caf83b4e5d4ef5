import { setTimeout as sleep } from "node:timers/promises";
import { type Redis, redisScript } from "./connection.ts";

/** What a node says of itself, every few seconds. */
export interface NodeReport {
  /** Anew at every start. */
  readonly id: string;
  /** Where it listens: `http://node-1:8080`. */
  readonly address: string;
  /** Of Kibitz. */
  readonly version: string;
  /** Since it was ready, in milliseconds. */
  readonly upMs: number;
  readonly slots: number;
  /** Searches that have a slot, and that wait for one. */
  readonly running: number;
  readonly waiting: number;
  readonly engines: readonly NodeEngine[];
}

/** A build, with the digest of its file as soon as that was read. */
export interface NodeEngine {
  readonly id: string;
  readonly path: string;
  readonly sha256: string;
}

/** An engine of one name that is not the same on all nodes. */
export interface DifferingEngine {
  readonly id: string;
  readonly path: string;
  /** Addresses of nodes, by the digest that they have. */
  readonly builds: ReadonlyMap<string, readonly string[]>;
}

interface NodesOptions {
  /** Of this node. */
  readonly id: string;
  /** Told of the nodes that were seen, also where nothing has changed. */
  readonly onSeen?: (reports: readonly NodeReport[]) => void;
  /** Between two announcements, in milliseconds. Three that fail to appear make a node gone. */
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
/** So many reports are read with every announcement; of more nodes, each is read as much more seldom. */
const readAtOnce = 10;

/** Counts as a node from the first announcement on, which is made at once. */
export function joinNodes(redis: Redis, { id, onSeen = () => {}, everyMs }: NodesOptions): Nodes {
  let count = 1;
  let announcements = 0;
  let report: (() => Omit<NodeReport, "id">) | undefined;
  const left = new AbortController();

  async function announceOnce(): Promise<void> {
    const text = report ? JSON.stringify({ id, ...report() }) : "";
    const answer = await redis.run(announceNode, [listKey, keyOf(id)], [id, text, everyMs * 3]);
    count = Math.max(1, Number(answer));
    if (announcements++ % Math.ceil(count / readAtOnce) === 0) {
      onSeen(await readNodes(redis));
    }
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

/** Who is there and has said what it is, in the order of addresses. @throws StoreUnavailable */
export async function readNodes(redis: Redis): Promise<readonly NodeReport[]> {
  const ids = textsIn(await redis.ask("ZRANGE", [listKey], [0, -1]));
  const texts = ids.length === 0 ? [] : textsIn(await redis.ask("MGET", ids.map(keyOf)));
  return texts
    .map(reportFrom)
    .filter((report) => report !== undefined)
    .toSorted((a, b) => a.address.localeCompare(b.address) || b.upMs - a.upMs);
}

/** Engines of one name that are not the same file everywhere. */
export function differingEngines(reports: readonly NodeReport[]): readonly DifferingEngine[] {
  const byName = new Map<string, { id: string; path: string; builds: Map<string, string[]> }>();
  for (const { address, engines } of reports) {
    for (const { id, path, sha256 } of engines) {
      const name = `${id} ${path}`;
      const engine = byName.get(name) ?? { id, path, builds: new Map() };
      byName.set(name, engine);
      engine.builds.set(sha256, [...(engine.builds.get(sha256) ?? []), address]);
    }
  }
  return [...byName.values()].filter(({ builds }) => builds.size > 1);
}

function textsIn(reply: unknown): readonly string[] {
  return Array.isArray(reply) ? reply.filter((each) => typeof each === "string") : [];
}

/** Undefined for what no node of ours has written, and for one that has not said anything yet. */
function reportFrom(text: string): NodeReport | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isReport(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function isReport(json: unknown): json is NodeReport {
  const { id, address, version, upMs, slots, running, waiting, engines } = fieldsOf(json);
  return (
    [id, address, version].every((text) => typeof text === "string") &&
    [upMs, slots, running, waiting].every((number) => Number.isSafeInteger(number)) &&
    Array.isArray(engines) &&
    engines.every((engine) => {
      const named = fieldsOf(engine);
      return [named.id, named.path, named.sha256].every((text) => typeof text === "string");
    })
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
