import { availableParallelism } from "node:os";
import { memoryBytes } from "./memory.ts";
import {
  files,
  flag,
  hosts,
  integer,
  networks,
  oneOf,
  origins,
  reader,
  redisAddress,
  type Setting,
  text,
} from "./setting.ts";

/** What the operator decides; `loadConfig` reads it. */
export interface Config {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Who is answered: everybody, holders of keys, or everybody without limits. */
  readonly access: (typeof accessModes)[number];
  /** JSON file of plans; the built-in ones if undefined. */
  readonly plansFile: string | undefined;
  /** Whether callers may get keys by themselves; only in `public` if undefined. */
  readonly selfServiceKeys: boolean | undefined;
  /** Keys that callers at one address may get by themselves in 24 hours. */
  readonly keysPerDay: number;
  /** Days after which such keys expire if nobody uses them; 0 for never. */
  readonly keyExpiryDays: number;
  /** Such keys that are kept, in all. */
  readonly selfServiceKeysMax: number;
  /** Secret that stored keys are hashed with; a plain hash if undefined. */
  readonly keyPepper: string | undefined;
  /** Folder of what must survive a restart. */
  readonly dataDir: string;
  /** Redis or Valkey that equal nodes share, with its password; this node is alone if undefined. */
  readonly redisUrl: string | undefined;
  /** In front of every key there. */
  readonly redisPrefix: string;
  /** MB of its memory that answers may take, about; 0 shares only searches under way. */
  readonly redisAnswersMb: number;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxy: readonly string[];
  /** Connections at a time of one address that is no proxy; 0 for no limit. Not in `open`. */
  readonly connectionsPerAddress: number;
  /** Origins whose scripts browsers let read answers, `*` for every one; depends on `access` if undefined. */
  readonly corsOrigins: readonly string[] | undefined;
  /** Whether browsers get the page at `/`, as everybody else gets a text. */
  readonly page: (typeof pageModes)[number];
  /** Host names that `/mcp` answers to, in lower case; if undefined, depends on `host`. */
  readonly allowedHosts: readonly string[] | undefined;
  /** Address that metrics are read at. */
  readonly metricsHost: string;
  /** Their port: 0 for no metrics; undefined for the default one, if that is free. */
  readonly metricsPort: number | undefined;
  /** Searches at a time. */
  readonly slots: number;
  /** Id that `latest` means; the newest stable version if undefined. */
  readonly defaultEngine: string | undefined;
  /** UCI binaries; searched for if undefined. */
  readonly nativeEngines: readonly string[] | undefined;
  /** Name of the user that engines run as; if undefined, nobody where the server is root. */
  readonly engineUser: string | undefined;
  /** MB that all engines together may take; idle ones are retired to keep it. */
  readonly engineMemoryMb: number;
  /** Longest that work is expected to wait for an engine; beyond that it is refused. */
  readonly queueMaxWaitMs: number;
  /** MB that the cache of answers may take. */
  readonly cacheMb: number;
  /** MB of disk that stored answers may take; 0 stores none. */
  readonly storeMb: number;
  /** MiB of hash of every engine. */
  readonly hashMb: number;
  /** Threads of every engine. */
  readonly threads: number;
  readonly logLevel: (typeof logLevels)[number];
  /** How much of callers' addresses the log says. */
  readonly logAddresses: (typeof addressForms)[number];
  /** PATH, where native engines are searched. */
  readonly searchPath: string;
}

const pageModes = ["on", "off"] as const;
const accessModes = ["public", "keys", "open"] as const;
const addressForms = ["none", "truncated", "hashed", "full"] as const;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Memory of one full-network WebAssembly engine under load, with room to breathe. */
const engineMemoryBytes = 600e6;

/** All of them, in the order in which people are shown them. */
export const settings = {
  host: {
    key: "KIBITZ_HOST",
    default: () => "127.0.0.1",
    about: "address to listen on; 0.0.0.0 or :: for all",
    read: text,
  },
  port: {
    key: "KIBITZ_PORT",
    default: () => 8080,
    about: "port, 0 to 65535; 0 picks a free one",
    read: integer(0, 65_535),
  },
  access: {
    key: "KIBITZ_ACCESS",
    default: () => "public",
    about: "public: everyone, with higher limits for keys; keys: only with a key; open: everyone, no limits",
    read: oneOf(accessModes),
  },
  plansFile: {
    key: "KIBITZ_PLANS",
    default: () => undefined,
    about: "JSON file of plans, as GET /price shows them; by default the built-in ones",
    read: text,
  },
  selfServiceKeys: {
    key: "KIBITZ_SELF_SERVICE_KEYS",
    default: () => undefined,
    about:
      "true or false: whether POST /v1/keys issues keys of the free plan; by default only with KIBITZ_ACCESS=public",
    read: flag,
  },
  keysPerDay: {
    key: "KIBITZ_KEYS_PER_DAY",
    default: () => 5,
    about: "keys that POST /v1/keys issues per address in 24 hours, 1 to 1000000",
    read: integer(1, 1_000_000),
  },
  keyExpiryDays: {
    key: "KIBITZ_KEY_EXPIRY_DAYS",
    default: () => 90,
    about:
      "days without use after which keys from POST /v1/keys expire, 0 to 36500; 0 for never; keys from `kibitz keys` do not expire",
    read: integer(0, 36_500),
  },
  selfServiceKeysMax: {
    key: "KIBITZ_SELF_SERVICE_KEYS_MAX",
    default: () => 100_000,
    about: "keys from POST /v1/keys that there can be in all, 1 to 100000000",
    read: integer(1, 100_000_000),
  },
  keyPepper: {
    key: "KIBITZ_KEY_PEPPER",
    default: () => undefined,
    about:
      "secret of at least 16 characters that stored keys are hashed with; if stored keys were made with another pepper, the server does not start",
    read: reader("must have at least 16 characters", (value) => (value.length >= 16 ? value : undefined)),
    secret: true,
  },
  dataDir: {
    key: "KIBITZ_DATA_DIR",
    default: () => "./data",
    about: "folder of the database, which holds keys and the engine time used, and of stored answers",
    read: text,
  },
  redisUrl: {
    key: "KIBITZ_REDIS_URL",
    default: () => undefined,
    about:
      "Redis or Valkey that equal nodes behind a balancer share: redis://user:password@host:6379/0, with rediss:// by TLS",
    read: redisAddress,
    secret: true,
  },
  redisPrefix: {
    key: "KIBITZ_REDIS_PREFIX",
    default: () => "kibitz:",
    about: "what every key in Redis begins with, 1 to 64 characters without spaces",
    read: reader("must be 1 to 64 characters without spaces", (value) =>
      /^[!-~]{1,64}$/.test(value) ? value : undefined,
    ),
  },
  redisAnswersMb: {
    key: "KIBITZ_REDIS_ANSWERS_MB",
    default: () => 64,
    about: "MB of Redis's memory for deterministic answers, 0 to 1000000; 0 keeps none there",
    read: integer(0, 1_000_000),
  },
  trustProxy: {
    key: "KIBITZ_TRUST_PROXY",
    default: () => [],
    about: "proxies whose X-Forwarded-For is trusted: addresses or CIDRs, separated by commas",
    read: networks,
  },
  connectionsPerAddress: {
    key: "KIBITZ_CONNECTIONS_PER_ADDRESS",
    default: () => 256,
    about:
      "open connections of one address, and calls in flight of one caller's (or the largest concurrent of the plans, if that is more), 0 to 10000; 0 for no limit, as for proxies that are trusted and with KIBITZ_ACCESS=open",
    read: integer(0, 10_000),
  },
  corsOrigins: {
    key: "KIBITZ_CORS_ORIGINS",
    default: () => undefined,
    about:
      "origins whose scripts may read answers, separated by commas, * for all, or none; by default * with KIBITZ_ACCESS=public, else none",
    read: origins,
  },
  page: {
    key: "KIBITZ_PAGE",
    default: () => "on",
    about: "on or off: whether browsers get the page at GET /, or the text that everybody else gets",
    read: oneOf(pageModes),
  },
  allowedHosts: {
    key: "KIBITZ_ALLOWED_HOSTS",
    default: () => undefined,
    about:
      "host names that /mcp answers to, separated by commas; added to the loopback names where the server listens on loopback; by default any elsewhere",
    read: hosts,
  },
  metricsHost: {
    key: "KIBITZ_METRICS_HOST",
    default: () => "127.0.0.1",
    about: "address of GET /metrics for Prometheus, and of the probes beside it; 0.0.0.0 or :: for all",
    read: text,
  },
  metricsPort: {
    key: "KIBITZ_METRICS_PORT",
    default: () => undefined,
    about: "its port, 0 to 65535; 0 for no metrics; by default 9464 if that is free",
    read: integer(0, 65_535),
  },
  slots: {
    key: "KIBITZ_SLOTS",
    default: () =>
      Math.max(1, Math.min(availableParallelism(), Math.floor(memoryBytes() / engineMemoryBytes))),
    about: "searches at a time, 1 to 1024; by default as many as cores and memory allow",
    read: integer(1, 1024),
  },
  defaultEngine: {
    key: "KIBITZ_DEFAULT_ENGINE",
    default: () => undefined,
    about: "engine id that `latest` means, and that is kept warm; by default the newest stable version",
    read: text,
  },
  nativeEngines: {
    key: "KIBITZ_NATIVE_ENGINES",
    default: () => undefined,
    about: "UCI binaries, separated by `:`, or none; by default `stockfish` is searched for",
    read: files,
  },
  engineUser: {
    key: "KIBITZ_ENGINE_USER",
    default: () => undefined,
    about: "user that engines run as, if the server is run by root; by default nobody",
    read: text,
  },
  engineMemoryMb: {
    key: "KIBITZ_ENGINE_MEMORY_MB",
    default: () => Math.floor(memoryBytes() / 2e6),
    about:
      "MB that all engines together may use, 100 or more; by default half of the memory, or of the container's limit",
    read: integer(100, 100_000_000),
  },
  queueMaxWaitMs: {
    key: "KIBITZ_QUEUE_MAX_WAIT_MS",
    default: () => 10_000,
    about: "longest expected wait in ms, 0 to 600000; requests that would wait longer are refused at once",
    read: integer(0, 600_000),
  },
  cacheMb: {
    key: "KIBITZ_CACHE_MB",
    default: () => 32,
    about: "MB that the cache of answers may take, 0 to 100000; 0 turns it off",
    read: integer(0, 100_000),
  },
  storeMb: {
    key: "KIBITZ_STORE_MB",
    default: () => 256,
    about: "MB of disk for deterministic answers, which outlive a restart, 0 to 1000000; 0 stores none",
    read: integer(0, 1_000_000),
  },
  hashMb: {
    key: "KIBITZ_HASH_MB",
    default: () => 16,
    about: "MiB of hash table per engine, 1 to 4096; WebAssembly engines take at most 1024",
    read: integer(1, 4096),
  },
  threads: {
    key: "KIBITZ_THREADS",
    default: () => 1,
    about: "threads per native engine, 1 to 256; with more than 1, answers are not deterministic",
    read: integer(1, 256),
  },
  logLevel: {
    key: "KIBITZ_LOG_LEVEL",
    default: () => "info",
    about: `one of ${logLevels.join(", ")}`,
    read: oneOf(logLevels),
  },
  logAddresses: {
    key: "KIBITZ_LOG_ADDRESSES",
    default: () => "truncated",
    about: `how callers' addresses appear in the log: ${addressForms.join(", ")}`,
    read: oneOf(addressForms),
  },
} as const satisfies { [K in Exclude<keyof Config, "searchPath">]: Setting<Config[K]> };
