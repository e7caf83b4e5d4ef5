import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import type { SearchResult } from "../analysis/analysis.ts";
import { lastResultFromJson, resultFromJson, resultVersion as version } from "../analysis/read-result.ts";
import type { Log } from "../log/log.ts";
import { createRedisCache } from "../storage/redis/cache.ts";
import { createRedisClaims } from "../storage/redis/claims.ts";
import type { Redis } from "../storage/redis/connection.ts";
import { createRedisKeyStore } from "../storage/redis/key-store.ts";
import { createRedisLimitStore } from "../storage/redis/limit-store.ts";
import { joinNodes } from "../storage/redis/nodes.ts";
import { now } from "../time/time.ts";
import type { OpenedStores } from "./access.ts";
import type { SharingTimes } from "./redis.ts";
import type { Service, ServiceOptions } from "./service.ts";
import type { Config } from "./settings.ts";

interface NodeAmongOthers extends OpenedStores, AsyncDisposable {
  /** The results that nodes share, and the claims of searches. The node that has the claim runs the search for all nodes. */
  readonly answers: ServiceOptions["shared"];
  announce(service: Service, port: number): void;
}

/** Connects this node to the other nodes. Import this file only if the settings name a Redis. */
export function joinOthers(
  redis: Redis,
  { host, slots, redisAnswersMb }: Pick<Config, "host" | "slots" | "redisAnswersMb">,
  log: Pick<Log, "info" | "warn">,
  { announceMs = 2000, claims = {} }: Partial<Pick<SharingTimes, "announceMs" | "claims">> = {},
): NodeAmongOthers {
  const open = new AsyncDisposableStack();
  const nodes = open.use(joinNodes(redis, { id: randomUUID(), everyMs: announceMs }));
  const store = open.use(createRedisLimitStore(redis));
  open.use(reportPolicy(redis, log));
  return {
    stores: { keys: createRedisKeyStore(redis) },
    shared: { limits: { store, nodes: () => nodes.count }, now: redis.now },
    answers: {
      answers: createRedisCache<SearchResult>(redis, {
        bytes: redisAnswersMb * 1e6,
        format: { version, read: resultFromJson },
      }),
      claims: createRedisClaims<SearchResult>(redis, {
        format: { version, read: lastResultFromJson },
        times: claims,
      }),
    },
    announce({ queueStatus }, port) {
      const readyAt = now();
      nodes.announce(() => {
        const { running, waiting } = queueStatus();
        const address = `http://${reachableHost(host)}:${port}`;
        const upMs = Math.round(now() - readyAt);
        return { address, version: manifest.version, upMs, slots, running, waiting };
      });
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Replaces `0.0.0.0` and `::` by the name of this machine, so that other machines can connect to the URL. */
function reachableHost(host: string): string {
  const named = ["0.0.0.0", "::"].includes(host) ? hostname() : host;
  return named.includes(":") ? `[${named}]` : named;
}

function reportPolicy(redis: Redis, log: Pick<Log, "info" | "warn">): Disposable {
  let isReported = false;
  const report = () => {
    if (redis.health.kind === "up" && !isReported) {
      isReported = true;
      evictionBy(redis).then(
        (eviction) => eviction && log[eviction.level]({}, eviction.text),
        () => {
          isReported = false;
        },
      );
    }
  };
  report();
  redis.changes.on("change", report);
  return { [Symbol.dispose]: () => void redis.changes.off("change", report) };
}

/** Returns a log message if Redis is configured to evict keys: an evicted API key would be lost. */
export async function evictionBy(
  redis: Redis,
): Promise<{ readonly level: "info" | "warn"; readonly text: string } | undefined> {
  const info = String(await redis.ask("INFO", [], ["memory"]));
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === undefined || policy === "noeviction") {
    return undefined;
  }
  if (policy === "volatile-ttl") {
    const text = `Redis may evict what ends soonest (maxmemory-policy ${policy}): limits of callers, long before the answers that nobody asks for. Set volatile-lru`;
    return { level: "warn", text };
  }
  return policy.startsWith("volatile-")
    ? {
        level: "info",
        text: `Redis may evict what has a lifetime (maxmemory-policy ${policy}): counters of limits and shared answers, but no API keys`,
      }
    : {
        level: "warn",
        text: `Redis may evict API keys (maxmemory-policy ${policy}), and a key that it evicts is lost: set noeviction or volatile-lru`,
      };
}
