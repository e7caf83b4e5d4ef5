import { existsSync } from "node:fs";
import { type Access, createAccess } from "../access/access.ts";
import { defaultKnownMs } from "../access/authenticate.ts";
import { createCallerAddress } from "../access/client-address.ts";
import { checkValueOf } from "../access/keys.ts";
import type { ListenerOptions } from "../http/listener/listener.ts";
import type { Log } from "../log/log.ts";
import { type KeyStore, StoreUnavailable } from "../storage/ports.ts";
import type { Redis } from "../storage/redis/connection.ts";
import {
  type Database,
  type DatabaseOptions,
  databaseFile,
  defaultBusyMaxMs,
  openDatabase,
  StoreUnusable,
} from "../storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../storage/sqlite/key-store.ts";
import { createSqliteUsageStore } from "../storage/sqlite/usage-store.ts";
import type { OpenedStores, openSharedAccess, Sharing } from "./access-of-nodes.ts";
import { ConfigError } from "./config.ts";
import { createStoreLog, type Degraded } from "./degraded.ts";
import { loadPlans } from "./plans.ts";
import { connectRedis } from "./redis.ts";
import type { Config } from "./settings.ts";

/** What the stores are asked, and how long they are waited for, in milliseconds. */
export const accessTimes = {
  /** Between two writes of what was used: so much a killed process forgets of it. */
  flushMs: 3000,
  /** A key is known from memory: so long one that another process has revoked still works. */
  knownMs: defaultKnownMs,
  /** For another process's write, at most. */
  busyMaxMs: defaultBusyMaxMs,
} as const;

/** As {@link accessTimes}; tests make them short. */
export type AccessTimes = { readonly [Time in keyof typeof accessTimes]: number };

interface AccessOptions {
  /** The state that nodes share. Unset for a node with a database of its own. */
  readonly sharing?: Sharing | undefined;
  /** Told of the database. */
  readonly degraded?: Degraded | undefined;
}

/** Milliseconds until keys that have ended are forgotten for the first time: a clock that was wrong at boot is right by then. */
const pruneAfterMs = 3_600_000;

/**
 * Who may ask and how much, as the settings say, over the database in their folder, or over what nodes share. Disposing
 * of it writes the rest.
 *
 * @throws ConfigError for plans and folders that cannot be used
 */
export async function openAccess(
  config: Config,
  log: Log,
  times: Partial<AccessTimes> = {},
  { sharing, degraded }: AccessOptions = {},
): Promise<Access & AsyncDisposable> {
  const { flushMs, knownMs, busyMaxMs } = { ...accessTimes, ...times };
  const plans = loadPlans(config);
  await using open = new AsyncDisposableStack();
  const {
    stores,
    shared,
    keepUp: tryAgain,
  } = open.use(sharing ? await openShared(sharing, log) : openOwn(config, log, { busyMaxMs, degraded }));
  const access = await createAccess({
    mode: config.access,
    plans,
    keysPerDay: (config.selfServiceKeys ?? config.access === "public") ? config.keysPerDay : 0,
    keyExpiryDays: config.keyExpiryDays,
    selfServiceKeysMax: config.selfServiceKeysMax,
    pepper: config.keyPepper,
    trustedProxies: config.trustProxy,
    knownMs,
    stores,
    ...(shared && { shared }),
    log,
  });
  let isPepperChecked = await checkPepper(stores.keys, config).then(
    () => true,
    (error: unknown) => {
      // Redis is away: this node starts all the same, and looks again.
      if (error instanceof StoreUnavailable) {
        return false;
      }
      throw error;
    },
  );
  const openedAt = performance.now();
  async function keepUp(): Promise<void> {
    await access.flush();
    await tryAgain?.();
    if (!isPepperChecked) {
      await checkPepper(stores.keys, config).catch((error: unknown) => {
        if (!(error instanceof ConfigError)) {
          throw error;
        }
        log.error({ error: error.message }, "no API key works");
      });
      isPepperChecked = true;
    }
    if (performance.now() - openedAt > pruneAfterMs) {
      await access.prune();
    }
  }
  /** One at a time: it may wait for somebody who has the database locked. */
  let keeping: Promise<void> | undefined;
  const timer = setInterval(() => {
    keeping ??= keepUp()
      .catch((err: unknown) => {
        // That the store cannot be asked is in the log once, and not every time.
        if (!(err instanceof StoreUnavailable)) {
          log.error({ err }, "usage could not be saved, or what has ended not be deleted");
        }
      })
      .finally(() => {
        keeping = undefined;
      });
  }, flushMs);
  const closing = open.move();
  const close = async () => {
    clearInterval(timer);
    await keeping;
    await access
      .flush()
      .catch((err: unknown) => log.error({ err }, "the latest usage could not be saved and is lost"));
    await closing.disposeAsync();
  };
  let closed: Promise<void> | undefined;
  return Object.assign(access, {
    [Symbol.asyncDispose]() {
      closed ??= close();
      return closed;
    },
  });
}

/** The stores of a node with a database of its own. @throws ConfigError */
function openOwn(
  config: Config,
  log: Log,
  { busyMaxMs, degraded }: { readonly busyMaxMs: number; readonly degraded: Degraded | undefined },
): OpenedStores {
  let isDegraded = false;
  const setPart = degraded?.part("database");
  const watch = createStoreLog(log, {
    name: "the database",
    meanwhile: "analyses continue, their usage is kept in memory, and changes to keys have to wait",
    setDegraded(is) {
      isDegraded = is;
      setPart?.(is);
    },
  });
  const database = openData(config, { watch, busyMaxMs });
  return {
    stores: { keys: createSqliteKeyStore(database), usage: createSqliteUsageStore(database) },
    keepUp: async () => void (isDegraded && (await database.probe())),
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}

/** Keys as they are kept. */
export interface OpenedKeys extends AsyncDisposable {
  readonly keys: KeyStore;
  /** As {@link placeOfKeys} says. */
  readonly place: string;
  /** Whether the database was made just now. */
  readonly isNew: boolean;
  /** The time of all nodes that share them, in milliseconds since 1970; undefined where that is this machine's. */
  now(): number | undefined;
}

/**
 * The keys alone, as the settings say.
 *
 * @throws ConfigError, also if Redis is not there, or the keys were made with another pepper
 */
export async function openKeys(config: Config): Promise<OpenedKeys> {
  await using open = new AsyncDisposableStack();
  const place = placeOfKeys(config);
  const isNew = config.redisUrl === undefined && !existsSync(place);
  const redis = await connectRedis(config, { info() {}, warn() {} });
  const { keys, now } = redis ? await openKeysIn(open.use(redis)) : openOwnKeys(config, open);
  await checkPepper(keys, config);
  const kept = open.move();
  return { keys, now, place, isNew, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

type OpenedKeyStore = Pick<OpenedKeys, "keys" | "now">;

function openOwnKeys(config: Config, open: AsyncDisposableStack): OpenedKeyStore {
  const database = openData(config);
  open.defer(() => database.close());
  return { keys: createSqliteKeyStore(database), now: () => undefined };
}

async function openKeysIn(redis: Redis): Promise<OpenedKeyStore> {
  const { health } = redis;
  if (health.kind === "down") {
    throw new ConfigError(`KIBITZ_REDIS_URL: Redis cannot be asked: ${health.why}.`);
  }
  const { createRedisKeyStore } = await import("../storage/redis/key-store.ts");
  return { keys: createRedisKeyStore(redis), now: redis.now };
}

/** Where the keys are, for people: the whole path of the database, or Redis without its password. */
export function placeOfKeys({ redisUrl, redisPrefix, dataDir }: Config): string {
  if (redisUrl === undefined) {
    return databaseFile(dataDir);
  }
  const { protocol, host, pathname } = new URL(redisUrl);
  return `${protocol}//${host}${pathname} (prefix ${redisPrefix})`;
}

/** @throws ConfigError if the keys were made with another pepper; StoreUnavailable */
async function checkPepper(keys: KeyStore, config: Config): Promise<void> {
  const { keyPepper, redisUrl } = config;
  const kept = await keys.keepPepperCheck(checkValueOf(keyPepper));
  if (kept === checkValueOf(keyPepper)) {
    return;
  }
  const anew = redisUrl === undefined ? "move that file away" : "name another KIBITZ_REDIS_PREFIX";
  const isNone = kept === checkValueOf(undefined);
  const made = isNone
    ? "without a pepper"
    : keyPepper === undefined
      ? "with a pepper, and none is set"
      : "with another pepper";
  throw new ConfigError(
    `KIBITZ_KEY_PEPPER: the keys in ${placeOfKeys(config)} were made ${made}. None of them would work: ${isNone ? "unset it" : "set the pepper that they were made with"}, or ${anew} to start without these keys.`,
  );
}

/** Read only where it is needed: a node that is alone starts without. */
async function openShared(...args: Parameters<typeof openSharedAccess>): Promise<OpenedStores> {
  return (await import("./access-of-nodes.ts")).openSharedAccess(...args);
}

/** @throws ConfigError */
function openData({ dataDir }: Config, options?: DatabaseOptions): Database {
  try {
    return openDatabase(dataDir, options);
  } catch (error) {
    if (error instanceof StoreUnusable) {
      const wayOut = error.isNewer
        ? "Run the newer version, or put back the copy of the database from before the upgrade."
        : "Name a folder that Kibitz may write to.";
      throw new ConfigError(`KIBITZ_DATA_DIR: ${error.message}. ${wayOut}`);
    }
    throw error;
  }
}

/**
 * How many connections and calls one caller may have. Trusted proxies come for many callers and are not limited; in `open` mode nothing
 * is limited.
 */
export function connectionLimits(
  config: Config,
): Required<Pick<ListenerOptions, "callerOf" | "connectionsPerAddress">> {
  const isLimited = config.access !== "open" && config.connectionsPerAddress > 0;
  return {
    callerOf: createCallerAddress(config.trustProxy),
    connectionsPerAddress: isLimited ? config.connectionsPerAddress : Number.POSITIVE_INFINITY,
  };
}
