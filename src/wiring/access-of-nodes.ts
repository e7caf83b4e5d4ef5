import type { AccessOptions, SharedAccess } from "../access/access.ts";
import { createSharedLimits } from "../access/limits-of-nodes.ts";
import type { Log } from "../log/log.ts";
import { createRedisClock } from "../storage/redis/clock.ts";
import type { Redis } from "../storage/redis/connection.ts";
import { createRedisKeyStore } from "../storage/redis/key-store.ts";
import { createRedisLimitStore } from "../storage/redis/limit-store.ts";

/** The stores of access, and what comes with them. Disposing of it closes them. */
export interface OpenedStores extends AsyncDisposable {
  readonly stores: AccessOptions["stores"];
  readonly shared?: SharedAccess;
  /** Done now and then: looks whether what failed works again. @throws StoreUnavailable */
  keepUp?(): Promise<void>;
}

/** What other nodes are asked through, and how many nodes there are, or were when they were seen last. */
export interface Sharing {
  readonly redis: Redis;
  nodes(): number;
}

/** How long keys that a node has seen go on being valid there while Redis is away, in milliseconds. */
const graceMs = 60_000;

/** Keys and limits that all nodes with this Redis share. */
export async function openSharedAccess(
  { redis, nodes }: Sharing,
  log: Pick<Log, "info" | "warn">,
): Promise<OpenedStores> {
  const open = new AsyncDisposableStack();
  const clock = open.use(createRedisClock(redis));
  const keys = open.use(createRedisKeyStore(redis, clock));
  const onForgotten = (entries: number) =>
    log.warn({}, `Redis was not told what was used before this node has ended (${entries} entries)`);
  const store = open.use(createRedisLimitStore(redis, clock, { onForgotten }));
  const watch = open.use(watchHealth(redis, log));
  return {
    stores: { keys },
    shared: {
      limits: createSharedLimits({ store, nodes }),
      grace: { awaySince: watch.awaySince, ms: graceMs },
      onKeyEnded: keys.onEnded,
      now: clock.now,
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Since when Redis is away; and says once, as soon as it is there, whether it may forget keys. */
function watchHealth(redis: Redis, log: Pick<Log, "info" | "warn">) {
  let awaySince: number | undefined;
  let isPolicyTold = false;
  const look = () => {
    awaySince = redis.health.kind === "down" ? (awaySince ?? performance.now()) : undefined;
    if (redis.health.kind === "up" && !isPolicyTold) {
      isPolicyTold = true;
      tellPolicy(redis, log).catch(() => {
        isPolicyTold = false;
      });
    }
  };
  look();
  redis.changes.on("change", look);
  return {
    awaySince: () => awaySince,
    [Symbol.dispose]: () => void redis.changes.off("change", look),
  };
}

/** API keys are nowhere else: what Redis evicts of them is gone. */
async function tellPolicy(redis: Redis, log: Pick<Log, "info" | "warn">): Promise<void> {
  const info = String(await redis.ask("INFO", [], ["memory"]));
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === undefined || policy === "noeviction") {
    return;
  }
  if (policy === "volatile-ttl") {
    log.warn(
      {},
      `Redis may evict what ends soonest (maxmemory-policy ${policy}): limits of callers, long before the answers that nobody asks for. Set volatile-lru`,
    );
  } else if (policy.startsWith("volatile-")) {
    log.info(
      {},
      `Redis may evict what has a lifetime (maxmemory-policy ${policy}): counters of limits and shared answers, but no API keys`,
    );
  } else {
    log.warn(
      {},
      `Redis may evict API keys (maxmemory-policy ${policy}), and a key that it evicts is lost: set noeviction or volatile-lru`,
    );
  }
}
