import { isIP } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { didYouMean } from "../text/nearest-name.ts";

/** What the operator decides. `loadConfig` is the only reader of the environment. */
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
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxy: readonly string[];
  /** Connections at a time of one address that is no proxy; 0 for no limit. Not in `open`. */
  readonly connectionsPerAddress: number;
  /** Origins whose scripts browsers let read answers, `*` for every one; depends on `access` if undefined. */
  readonly corsOrigins: readonly string[] | undefined;
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

const accessModes = ["public", "keys", "open"] as const;
const addressForms = ["none", "truncated", "hashed", "full"] as const;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that cannot be used. The message has a line for each, with the key and the way out. */
export class ConfigError extends Error {}

interface Setting<T> {
  readonly key: string;
  readonly default: () => T;
  /** Shown by `kibitz serve --help`. */
  readonly about: string;
  readonly read: Reader<T>;
  /** Never shown: not in messages and not in the log. */
  readonly secret?: true;
}

/** Undefined if the text is not a value. `must` says what values are: "must be one of on, off". */
type Reader<T> = ((text: string) => T | undefined) & { readonly must: string };

const reader = <T>(must: string, read: (text: string) => T | undefined): Reader<T> =>
  Object.assign(read, { must });

const integer = (minimum: number, maximum: number) =>
  reader(`must be an integer from ${minimum} to ${maximum}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  });
const oneOf = <T extends string>(words: readonly T[]) =>
  reader(`must be one of ${words.join(", ")}`, (text) => words.find((word) => word === text));
const text = reader("must not be empty; unset it for the default", (value) => value || undefined);
const flag = reader("must be true or false", (value) =>
  value === "true" ? true : value === "false" ? false : undefined,
);
const origins = reader(
  "must be * alone, or origins such as https://app.example.com, separated by commas; empty for none",
  (value) => {
    const all = listed(value);
    // Beside *, which lets everybody in, an origin would only seem to say who else may not.
    return (all.length === 1 && all[0] === "*") || all.every(isOrigin) ? all : undefined;
  },
);
const networks = reader("must be addresses and networks such as 10.0.0.0/8, separated by commas", (value) => {
  const all = listed(value);
  return all.every(isNetwork) ? all : undefined;
});

function listed(value: string): string[] {
  return value
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}

/** As browsers write the header Origin: the scheme, the host in lower case, the port unless it is the usual one. */
function isOrigin(one: string): boolean {
  if (!URL.canParse(one)) {
    return false;
  }
  const { protocol, host } = new URL(one);
  return host !== "" && one === `${protocol}//${host}`;
}

function isNetwork(one: string): boolean {
  const [address = "", prefix, ...more] = one.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more.length === 0 && bits > 0 && (prefix === undefined || integer(0, bits)(prefix) !== undefined);
}

/** Memory of one full-network WebAssembly engine under load, with room to breathe. */
const engineMemoryBytes = 600e6;

const settings = {
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
      "secret of at least 16 characters that stored keys are hashed with; changing it invalidates all keys",
    read: reader("must have at least 16 characters", (value) => (value.length >= 16 ? value : undefined)),
    secret: true,
  },
  dataDir: {
    key: "KIBITZ_DATA_DIR",
    default: () => "./data",
    about: "folder of the database, which holds keys and the engine time used",
    read: text,
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
      "connections at a time of one address, 0 to 10000; 0 for no limit, as for proxies that are trusted and with KIBITZ_ACCESS=open",
    read: integer(0, 10_000),
  },
  corsOrigins: {
    key: "KIBITZ_CORS_ORIGINS",
    default: () => undefined,
    about:
      "origins whose scripts may read answers, separated by commas; by default * with KIBITZ_ACCESS=public, else none",
    read: origins,
  },
  slots: {
    key: "KIBITZ_SLOTS",
    default: () => Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / engineMemoryBytes))),
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
    about: "UCI binaries, separated by `:`; empty for none; by default `stockfish` is searched for",
    read: reader("must be files separated by `:`", (value) => value.split(":").filter(Boolean)),
  },
  engineUser: {
    key: "KIBITZ_ENGINE_USER",
    default: () => undefined,
    about: "user that engines run as, if the server is run by root; by default nobody",
    read: text,
  },
  engineMemoryMb: {
    key: "KIBITZ_ENGINE_MEMORY_MB",
    default: () => Math.floor(totalmem() / 2e6),
    about: "MB that all engines together may use, 100 or more; by default half of the memory",
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
    default: () => 64,
    about: "MB that the cache of answers may take, 0 to 100000; 0 turns it off",
    read: integer(0, 100_000),
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

/**
 * Reads the settings. @throws ConfigError that tells every value that cannot be used, and every `KIBITZ_*` name that
 * is not known: a setting with a typing error must not be silently without effect.
 */
export function loadConfig(environment: Environment): Config {
  const complaints: string[] = [];
  const known = new Set<string>(Object.values(settings).map(({ key }) => key));
  const unknown = Object.keys(environment).filter(
    (key) => key.startsWith("KIBITZ_") && !known.has(key) && !isInjected(key),
  );
  complaints.push(...unknown.map((key) => `unknown setting ${key}; ${wayOut(key, [...known])}`));
  const entries = Object.entries(settings).map(([name, setting]) => [
    name,
    valueOfSetting(setting, environment, complaints),
  ]);
  if (complaints.length > 0) {
    throw new ConfigError(complaints.join("\n"));
  }
  return Object.freeze({ ...Object.fromEntries(entries), searchPath: environment.PATH ?? "" }) as Config;
}

function valueOfSetting(setting: Setting<unknown>, environment: Environment, complaints: string[]): unknown {
  const given = environment[setting.key];
  if (given === undefined || isKubernetesPort(setting.key, given)) {
    return setting.default();
  }
  const value = setting.read(given);
  if (value === undefined) {
    const shown = setting.secret ? "not usable" : JSON.stringify(given.slice(0, 64));
    complaints.push(`${setting.key} is ${shown}, but ${setting.read.must}`);
  }
  return value;
}

/** The setting that was meant, if that can be guessed. */
function wayOut(key: string, known: readonly string[]): string {
  const withoutPrefix = (name: string) => name.slice("KIBITZ_".length);
  const written = (name: string) => `KIBITZ_${name}`;
  const otherwise = "kibitz serve --help lists the settings";
  return didYouMean(withoutPrefix(key), known.map(withoutPrefix), otherwise, written);
}

/** Kubernetes gives every pod beside a Service named kibitz these names. */
function isInjected(key: string): boolean {
  return key.startsWith("KIBITZ_SERVICE_") || key.startsWith("KIBITZ_PORT_");
}

function isKubernetesPort(key: string, value: string): boolean {
  return key === "KIBITZ_PORT" && value.startsWith("tcp://");
}

/** The settings as they may be logged. */
export function settingsForLog(config: Config): Readonly<Record<string, unknown>> {
  const { searchPath: _, keyPepper, ...settings } = config;
  return { ...settings, keyPepper: keyPepper === undefined ? undefined : "set" };
}

/** The settings with their meaning and default, for people. */
export function describeSettings(): readonly Readonly<Record<"key" | "about" | "default", string>>[] {
  return Object.values(settings).map(({ key, about, default: value }) => ({
    key,
    about,
    default: String(value() ?? ""),
  }));
}
