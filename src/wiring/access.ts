import { existsSync } from "node:fs";
import { type Access, type AccessOptions, createAccess, type SharedAccess } from "../access/access.ts";
import { defaultKnownMs } from "../access/authenticate.ts";
import { createCallerAddress, createClientAddress } from "../access/client-address.ts";
import { checkValueOf, pepperOfOthers } from "../access/keys.ts";
import type { Plan } from "../access/plans.ts";
import type { ListenerOptions } from "../http/listener/listener.ts";
import { type Log, silentLog } from "../log/log.ts";
import { type KeyStore, StoreUnavailable } from "../storage/ports.ts";
import {
  type Database,
  type DatabaseOptions,
  databaseFile,
  defaultBusyMaxMs,
  openDatabase,
  StoreUnusable,
} from "../storage/sqlite/database.ts";
import { createSqliteKeyStore, readSqliteKeys, type StoredKeys } from "../storage/sqlite/key-store.ts";
import { createSqliteUsageStore } from "../storage/sqlite/usage-store.ts";
import { every, now, wall } from "../time/time.ts";
import { ConfigError } from "./config.ts";
import { createStoreLog, type Degraded } from "./degraded.ts";
import { loadPlans } from "./plans.ts";
import { connectRedis } from "./redis.ts";
import type { Config } from "./settings.ts";

export const accessTimes = {
  /** Milliseconds between two writes of the usage. If the process is killed, the usage since the last write is lost. */
  flushMs: 3000,
  /** If another process revokes a key, this node accepts its cached key for at most this number of milliseconds. */
  knownMs: defaultKnownMs,
  busyMaxMs: defaultBusyMaxMs,
} as const;

/** The longest wait in milliseconds for a locked database at a stop, because a stop has 25 s, and its calls may take 20 s. */
const closeMaxMs = 3000;

type AccessTimes = { readonly [Time in keyof typeof accessTimes]: number };

export interface OpenedStores {
  readonly stores: AccessOptions["stores"];
  readonly shared?: SharedAccess;
  /** Checks the store with a read and a write. Throws StoreUnavailable if the store does not work. */
  probe?(): Promise<void>;
  /** Ends all present and later waits for the store after `ms` at the latest. */
  limitWaits?(ms: number): void;
}

export interface OpenAccessOptions {
  /** The stores that all nodes share. If undefined, this node opens its own database. */
  readonly node?: OpenedStores | undefined;
  readonly degraded?: Degraded | undefined;
  readonly plans?: readonly Plan[] | undefined;
  readonly addressOf?: Access["addressOf"] | undefined;
}

/**
 * Revoked and unused keys are not deleted before this number of milliseconds has passed: just after a boot, the clock may be
 * wrong.
 */
const pruneAfterMs = 3_600_000;

/** Disposing of the result writes the latest usage. Throws ConfigError if the plans or the data folder cannot be used. */
export async function openAccess(
  config: Config,
  log: Log,
  times: Partial<AccessTimes> = {},
  { node, degraded, plans, addressOf }: OpenAccessOptions = {},
): Promise<Access & AsyncDisposable> {
  const { flushMs, knownMs, busyMaxMs } = { ...accessTimes, ...times };
  await using open = new AsyncDisposableStack();
  const { stores, shared, probe, limitWaits } =
    node ?? open.use(openOwn(config, log, { busyMaxMs, degraded }));
  const access = await createAccess({
    mode: config.access,
    plans: plans ?? loadPlans(config),
    keysPerDay: (config.selfServiceKeys ?? config.access === "public") ? config.keysPerDay : 0,
    keyExpiryDays: config.keyExpiryDays,
    selfServiceKeysMax: config.selfServiceKeysMax,
    pepper: config.keyPepper,
    addressOf: addressOf ?? createClientAddress(config.trustProxy, log),
    knownMs,
    stores,
    ...(shared && { shared }),
    log,
  });
  let isPepperChecked = true;
  await checkPepper(stores.keys, config).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) {
      throw error;
    }
    // Start this node although Redis is unreachable. The pepper is checked later.
    isPepperChecked = false;
  });
  const openedAt = now();
  async function keepUp(): Promise<void> {
    await access.flush();
    await probe?.();
    if (!isPepperChecked) {
      await checkPepper(stores.keys, config).catch((error: unknown) => {
        if (!(error instanceof ConfigError)) {
          throw error;
        }
        log.error({ error: error.message }, "no API key works");
      });
      isPepperChecked = true;
    }
    if (now() - openedAt > pruneAfterMs) {
      await access.prune();
    }
  }
  /** Only one run of `keepUp` is active at a time, because a run may wait for a lock. */
  let keeping: Promise<void> | undefined;
  const timer = every(flushMs, () => {
    keeping ??= keepUp()
      .catch((err: unknown) => {
        if (!(err instanceof StoreUnavailable)) {
          log.error({ err }, "usage could not be saved, or ended keys not be deleted");
        }
      })
      .finally(() => {
        keeping = undefined;
      });
  });
  open.defer(async () => {
    timer.cancel();
    limitWaits?.(closeMaxMs);
    await keeping;
    await access
      .flush()
      .catch((err: unknown) => log.error({ err }, "the latest usage could not be saved and is lost"));
  });
  const kept = open.move();
  return Object.assign(access, { [Symbol.asyncDispose]: () => kept.disposeAsync() });
}

function openOwn(
  config: Config,
  log: Log,
  { busyMaxMs, degraded }: { readonly busyMaxMs: number; readonly degraded: Degraded | undefined },
): OpenedStores & Disposable {
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
    probe: async () => void (isDegraded && (await database.probe())),
    limitWaits: (ms) => database.limitWaits(ms),
    [Symbol.dispose]: () => database.close(),
  };
}

export interface OpenedKeys extends AsyncDisposable {
  readonly keys: KeyStore;
  /** The path of the database, or the URL of Redis without the password. */
  readonly place: string;
  readonly isNew: boolean;
  /** Returns milliseconds since 1970, by Redis's clock if several nodes share the keys, because the clocks of the nodes may differ. */
  now(): number;
}

/**
 * Creates a missing database only if `mayCreate` is true. Throws ConfigError if the settings cannot be used, Redis is unreachable,
 * or the keys were made with another pepper.
 */
export async function openKeys(config: Config, mayCreate: boolean): Promise<OpenedKeys> {
  await using open = new AsyncDisposableStack();
  const place = placeOfKeys(config);
  const isNew = config.redisUrl === undefined && !existsSync(place);
  if (isNew && !mayCreate) {
    throw noDatabase(place);
  }
  const shared = open.use(await openSharedKeys(config));
  const keys = shared?.keys ?? createSqliteKeyStore(open.use(openData(config)));
  await checkPepper(keys, config);
  const kept = open.move();
  return { keys, now: timeOf(shared), place, isNew, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Reads all keys, and writes nothing. `now` is as in {@link OpenedKeys}. Throws ConfigError as `openKeys` does. */
export async function readKeys(
  config: Config,
): Promise<Pick<StoredKeys, "records"> & { readonly now: () => number }> {
  await using shared = await openSharedKeys(config);
  const { records, pepperCheck } = shared
    ? { records: await shared.keys.list(), pepperCheck: await shared.keys.pepperCheck() }
    : readOwnKeys(config);
  if (pepperCheck !== undefined && pepperCheck !== checkValueOf(config.keyPepper)) {
    throw otherPepper(pepperCheck, config);
  }
  const now = timeOf(shared)();
  return { records, now: () => now };
}

function readOwnKeys(config: Config): StoredKeys {
  const place = placeOfKeys(config);
  if (!existsSync(place)) {
    throw noDatabase(place);
  }
  try {
    return readSqliteKeys(place);
  } catch (error) {
    throw whyUnusable(error);
  }
}

async function openSharedKeys(config: Config) {
  await using open = new AsyncDisposableStack();
  const redis = open.use(await connectRedis(config, silentLog));
  if (redis?.health.kind === "down") {
    throw new ConfigError(`KIBITZ_REDIS_URL: Redis does not answer: ${redis.health.why}.`);
  }
  if (redis === undefined) {
    return undefined;
  }
  const keys = (await import("../storage/redis/key-store.ts")).createRedisKeyStore(redis);
  const kept = open.move();
  return { keys, now: () => redis.now(), [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const timeOf = (shared: { now(): number | undefined } | undefined) => () =>
  Math.floor(shared?.now() ?? wall());

export function noDatabase(place: string): ConfigError {
  return new ConfigError(
    `KIBITZ_DATA_DIR: there is no ${place}. Name the folder of the server: only serve, keys create, keys import and restore make a database.`,
  );
}

function placeOfKeys({ redisUrl, redisPrefix, dataDir }: Config): string {
  if (redisUrl === undefined) {
    return databaseFile(dataDir);
  }
  const { protocol, host, pathname } = new URL(redisUrl);
  return `${protocol}//${host}${pathname} (prefix ${redisPrefix})`;
}

/** Throws StoreUnavailable, or ConfigError if the keys were made with another pepper. */
async function checkPepper(keys: KeyStore, config: Config): Promise<void> {
  const kept = await keys.keepPepperCheck(checkValueOf(config.keyPepper));
  if (kept !== checkValueOf(config.keyPepper)) {
    throw otherPepper(kept, config);
  }
}

function otherPepper(kept: string, config: Config): ConfigError {
  const { keyPepper, redisUrl } = config;
  const anew = redisUrl === undefined ? "move that file away" : "name another KIBITZ_REDIS_PREFIX";
  const isNone = kept === checkValueOf(undefined);
  const made = pepperOfOthers(kept, keyPepper);
  return new ConfigError(
    `KIBITZ_KEY_PEPPER: the keys in ${placeOfKeys(config)} were made ${made}. None of them would work: ${isNone ? "unset it" : "set the pepper that they were made with"}, or ${anew} to start without these keys.`,
  );
}

/** Throws ConfigError if the data folder cannot be used. */
function openData({ dataDir }: Config, options?: DatabaseOptions): Database {
  try {
    return openDatabase(dataDir, options);
  } catch (error) {
    throw whyUnusable(error);
  }
}

function whyUnusable(error: unknown): unknown {
  if (error instanceof StoreUnusable) {
    const wayOut = error.isNewer
      ? "Run the newer version, or put back the copy of the database from before the upgrade."
      : "Name a folder that Kibitz may write to.";
    return new ConfigError(`KIBITZ_DATA_DIR: ${error.message}. ${wayOut}`);
  }
  return error;
}

/** If KIBITZ_ACCESS is `open`, nothing is limited. Trusted proxies are never limited, because they connect for many clients. */
export function connectionLimits(
  config: Config,
  plans: () => readonly Plan[],
): Required<Pick<ListenerOptions, "callerOf" | "callsPerCaller" | "connectionsPerAddress">> {
  const isLimited = config.access !== "open" && config.connectionsPerAddress > 0;
  const connectionsPerAddress = isLimited ? config.connectionsPerAddress : Number.POSITIVE_INFINITY;
  return {
    callerOf: createCallerAddress(config.trustProxy),
    connectionsPerAddress,
    // Allow at least as many calls in flight as the largest plan.
    callsPerCaller() {
      const searches = plans().map(({ limits }) => limits.concurrent ?? 0);
      return Math.max(connectionsPerAddress, ...searches);
    },
  };
}
