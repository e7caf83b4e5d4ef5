import { availableParallelism } from "node:os";
import { memoryBytes } from "./memory.ts";
import {
  files,
  flag,
  folders,
  hosts,
  integer,
  networks,
  oneOf,
  optional,
  origins,
  reader,
  redisAddress,
  setting,
  text,
} from "./setting.ts";

const addressForms = ["none", "truncated", "hashed", "full"] as const;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** The memory of one WebAssembly engine with the full network under load, plus a reserve. */
const engineMemoryBytes = 600e6;

export const settings = {
  host: setting({
    key: "KIBITZ_HOST",
    default: () => "127.0.0.1",
    about: "address to listen on; 0.0.0.0 or :: for all",
    read: text,
  }),
  port: setting({
    key: "KIBITZ_PORT",
    default: () => 8080,
    about: "port, 0 to 65535; 0 picks a free one",
    read: integer(0, 65_535),
  }),
  access: setting({
    key: "KIBITZ_ACCESS",
    default: () => "public" as const,
    about: "public: everyone, with higher limits for keys; keys: only with a key; open: everyone, no limits",
    read: oneOf("public", "keys", "open"),
  }),
  plansFile: optional({
    key: "KIBITZ_PLANS",
    about: "JSON file of plans, as GET /price shows them; by default the built-in ones",
    read: text,
  }),
  selfServiceKeys: optional({
    key: "KIBITZ_SELF_SERVICE_KEYS",
    about:
      "true or false: true if POST /v1/keys issues keys of the free plan; by default only with KIBITZ_ACCESS=public",
    read: flag,
  }),
  keysPerDay: setting({
    key: "KIBITZ_KEYS_PER_DAY",
    default: () => 5,
    about: "keys that POST /v1/keys issues per address in 24 hours, 1 to 1000000",
    read: integer(1, 1_000_000),
  }),
  keyExpiryDays: setting({
    key: "KIBITZ_KEY_EXPIRY_DAYS",
    default: () => 90,
    about:
      "days without use after which keys from POST /v1/keys expire, 0 to 36500; 0 for never; keys from `kibitz keys` expire only with --expires",
    read: integer(0, 36_500),
  }),
  selfServiceKeysMax: setting({
    key: "KIBITZ_SELF_SERVICE_KEYS_MAX",
    default: () => 100_000,
    about: "most keys that POST /v1/keys may issue in all, 1 to 100000000",
    read: integer(1, 100_000_000),
  }),
  keyPepper: optional({
    key: "KIBITZ_KEY_PEPPER",
    about:
      "secret of at least 16 characters that stored keys are hashed with; if stored keys were made with another pepper, the server does not start",
    read: reader("must have at least 16 characters", (value) => (value.length >= 16 ? value : undefined)),
    secret: true,
  }),
  dataDir: setting({
    key: "KIBITZ_DATA_DIR",
    default: () => "./data",
    about: "folder of the database (keys and their used engine time) and of stored answers",
    read: text,
  }),
  redisUrl: optional({
    key: "KIBITZ_REDIS_URL",
    about:
      "Redis or Valkey that equal nodes behind a balancer share: redis://user:password@host:6379/0, with rediss:// by TLS",
    read: redisAddress,
    secret: true,
  }),
  redisPrefix: setting({
    key: "KIBITZ_REDIS_PREFIX",
    default: () => "kibitz:",
    about: "prefix of every key in Redis, 1 to 64 characters without spaces",
    read: reader("must be 1 to 64 characters without spaces", (value) =>
      /^[!-~]{1,64}$/.test(value) ? value : undefined,
    ),
  }),
  redisAnswersMb: setting({
    key: "KIBITZ_REDIS_ANSWERS_MB",
    default: () => 64,
    about: "MB of Redis's memory for deterministic answers, 0 to 1000000; 0 keeps none there",
    read: integer(0, 1_000_000),
  }),
  trustProxy: setting({
    key: "KIBITZ_TRUST_PROXY",
    default: () => [],
    about: "proxies whose X-Forwarded-For is trusted: addresses or CIDRs, separated by commas",
    read: networks,
  }),
  connectionsPerAddress: setting({
    key: "KIBITZ_CONNECTIONS_PER_ADDRESS",
    default: () => 256,
    about:
      "open connections of one address, and calls in flight of one caller's (or the largest concurrent of the plans, if that is more), 0 to 10000; 0 for no limit, as for proxies that are trusted and with KIBITZ_ACCESS=open",
    read: integer(0, 10_000),
  }),
  corsOrigins: optional({
    key: "KIBITZ_CORS_ORIGINS",
    about:
      "origins whose scripts may read answers, separated by commas, * for all, or none; by default * with KIBITZ_ACCESS=public, else none",
    read: origins,
  }),
  page: setting({
    key: "KIBITZ_PAGE",
    default: () => "on" as const,
    about: "on or off: with off, browsers get the text that curl gets, and not the page",
    read: oneOf("on", "off"),
  }),
  allowedHosts: optional({
    key: "KIBITZ_ALLOWED_HOSTS",
    about:
      "host names that /mcp accepts, separated by commas; loopback names are added if the server listens on loopback; by default any name on other addresses",
    read: hosts,
  }),
  metricsHost: setting({
    key: "KIBITZ_METRICS_HOST",
    default: () => "127.0.0.1",
    about: "address of GET /metrics for Prometheus and of its health probes; 0.0.0.0 or :: for all",
    read: text,
  }),
  metricsPort: optional({
    key: "KIBITZ_METRICS_PORT",
    about: "port of GET /metrics, 0 to 65535; 0 for no metrics; by default 9464 if that is free",
    read: integer(0, 65_535),
  }),
  slots: setting({
    key: "KIBITZ_SLOTS",
    default: () =>
      Math.max(1, Math.min(availableParallelism(), Math.floor(memoryBytes() / engineMemoryBytes))),
    about: "searches at a time, 1 to 1024; by default as many as cores and memory allow",
    read: integer(1, 1024),
  }),
  defaultEngine: optional({
    key: "KIBITZ_DEFAULT_ENGINE",
    about: "engine id of `latest`, kept started; by default the newest stable version",
    read: text,
  }),
  enginesFile: optional({
    key: "KIBITZ_ENGINES",
    about: "JSON file that describes engines which need arguments, files or options",
    read: text,
  }),
  nativeEngines: optional({
    key: "KIBITZ_NATIVE_ENGINES",
    about:
      "UCI binaries, separated by `:`, or none; by default `stockfish` and the installed engines are searched for",
    read: files,
  }),
  wasmBuild: setting({
    key: "KIBITZ_WASM_BUILD",
    default: () => "fast" as const,
    about:
      "fast: the faster WebAssembly build of @lichess-org/stockfish-web if it can run; npm: always the build of the npm package `stockfish`",
    read: oneOf("fast", "npm"),
  }),
  engineUser: optional({
    key: "KIBITZ_ENGINE_USER",
    about: "user that engines run as, if the server is run by root; by default nobody",
    read: text,
  }),
  engineMemoryMb: setting({
    key: "KIBITZ_ENGINE_MEMORY_MB",
    default: () => Math.floor(memoryBytes() / 2e6),
    about:
      "MB that all engines together may use, 100 or more; by default half of the memory, or of the container's limit",
    read: integer(100, 100_000_000),
  }),
  syzygy: optional({
    key: "KIBITZ_SYZYGY",
    about: "folders of Syzygy endgame tables, separated by `:`; by default none",
    read: folders,
  }),
  queueMaxWaitMs: setting({
    key: "KIBITZ_QUEUE_MAX_WAIT_MS",
    default: () => 10_000,
    about: "longest expected wait in ms, 0 to 600000; requests that would wait longer are refused",
    read: integer(0, 600_000),
  }),
  cacheMb: setting({
    key: "KIBITZ_CACHE_MB",
    default: () => 32,
    about: "MB that the cache of answers may take, 0 to 100000; 0 turns it off",
    read: integer(0, 100_000),
  }),
  storeMb: setting({
    key: "KIBITZ_STORE_MB",
    default: () => 256,
    about: "MB of disk for deterministic answers, which outlive a restart, 0 to 1000000; 0 stores none",
    read: integer(0, 1_000_000),
  }),
  hashMb: setting({
    key: "KIBITZ_HASH_MB",
    default: () => 4,
    about: "MiB of hash table per engine, 1 to 4096; WebAssembly engines take at most 1024",
    read: integer(1, 4096),
  }),
  threads: setting({
    key: "KIBITZ_THREADS",
    default: () => 1,
    about: "threads per native engine, 1 to 256; with more than 1, answers are not deterministic",
    read: integer(1, 256),
  }),
  logLevel: setting({
    key: "KIBITZ_LOG_LEVEL",
    default: () => "info" as const,
    about: `one of ${logLevels.join(", ")}`,
    read: oneOf(...logLevels),
  }),
  logAddresses: setting({
    key: "KIBITZ_LOG_ADDRESSES",
    default: () => "truncated" as const,
    about: `how callers' addresses appear in the log: ${addressForms.join(", ")}`,
    read: oneOf(...addressForms),
  }),
} as const;

export type Config = {
  readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]["default"]>;
} & {
  /** The environment variable PATH. Native engines are searched for in its folders. */
  readonly searchPath: string;
  /** The folder for data of the user who runs Kibitz. Undefined if the user has no home. */
  readonly dataHome: string | undefined;
};
