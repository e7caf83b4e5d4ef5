import type { AccessOptions, SharedAccess } from "../access/access.ts";
import type { Log } from "../log/log.ts";
import type { Redis } from "../storage/redis/connection.ts";
import { createRedisKeyStore } from "../storage/redis/key-store.ts";
import { createRedisLimitStore } from "../storage/redis/limit-store.ts";

/** The stores of access, and what comes with them. Disposing of it closes them. */
export interface OpenedStores extends AsyncDisposable {
  readonly stores: AccessOptions["stores"];
  readonly shared?: SharedAccess;
  /** Checks regularly whether a store that failed works again. @throws StoreUnavailable */
  probe?(): Promise<void>;
}

/** The Redis that nodes share, and the last known number of nodes. */
export interface Sharing {
  readonly redis: Redis;
  nodes(): number;
}

/** Keys and limits that all nodes with this Redis share. */
export async function openSharedAccess(
  { redis, nodes }: Sharing,
  log: Pick<Log, "info" | "warn">,
): Promise<OpenedStores> {
  const open = new AsyncDisposableStack();
  const store = open.use(createRedisLimitStore(redis));
  open.use(reportPolicy(redis, log));
  return {
    stores: { keys: createRedisKeyStore(redis) },
    shared: { limits: { store, nodes }, now: redis.now },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Logs once, as soon as Redis is up, whether Redis may evict keys. */
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

/** The log line for Redis's policy of eviction; undefined if it evicts nothing. API keys are stored nowhere else. */
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
