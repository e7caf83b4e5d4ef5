import { isIP } from "node:net";

interface Row<T> {
  readonly key: string;
  readonly about: string;
  readonly read: Reader<T>;
  readonly secret?: true;
}

export interface Setting<T> extends Row<T> {
  readonly default: () => T;
}

/** Returns undefined if the value is invalid. `must` completes the error message, for example "must be one of on, off". */
type Reader<T> = ((text: string) => T | undefined) & { readonly must: string };

export const setting = <T>(row: Setting<T>) => row;

export const optional = <T>(row: Row<T>) => ({ ...row, default: (): T | undefined => undefined });

export const reader = <T>(must: string, read: (text: string) => T | undefined): Reader<T> =>
  Object.assign(read, { must });

export const integer = (minimum: number, maximum: number) =>
  reader(`must be an integer from ${minimum} to ${maximum}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  });
export const oneOf = <const T extends string>(...words: readonly T[]) =>
  reader(`must be one of ${words.join(", ")}`, (text) => words.find((word) => word === text));
export const text = reader("must be a text", (value) => value);
export const flag = reader("must be true or false", (value) =>
  value === "true" ? true : value === "false" ? false : undefined,
);
export const origins = reader(
  "must be * alone, or origins such as https://app.example.com, separated by commas, or none",
  (value) => {
    if (value === "none") {
      return [];
    }
    const all = listed(value);
    const isUsable = (all.length === 1 && all[0] === "*") || (all.length > 0 && all.every(isOrigin));
    return isUsable ? all : undefined;
  },
);
export const hosts = reader(
  "must be host names or addresses without ports such as kibitz.example, separated by commas",
  (value) => {
    const all = listed(value).map((one) => one.toLowerCase());
    return all.length > 0 && all.every(isHost) ? all : undefined;
  },
);
export const networks = reader(
  "must be addresses and networks such as 10.0.0.0/8, separated by commas",
  (value) => {
    const all = listed(value);
    return all.every(isNetwork) ? all : undefined;
  },
);

export const files = reader("must be files separated by `:`, or none", (value) => {
  const all = value.split(":").filter(Boolean);
  return value === "none" ? [] : all.length > 0 ? all : undefined;
});

export const folders = reader("must be folders separated by `:`", (value) => {
  const all = value.split(":").filter(Boolean);
  return all.length > 0 ? all : undefined;
});

export const redisAddress = reader(
  "must be redis://host, or rediss:// for TLS; a user, a password (percent-encoded), a port and the number of a database may be with it: redis://user:password@host:6379/0",
  (value) => {
    const url = URL.parse(value);
    const isOne =
      url !== null &&
      /^rediss?:$/.test(url.protocol) &&
      url.hostname !== "" &&
      /^(\/\d{0,5})?$/.test(url.pathname) &&
      url.search + url.hash === "" &&
      isEncoded(url.username) &&
      isEncoded(url.password);
    return isOne ? value : undefined;
  },
);

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function listed(value: string): string[] {
  return value
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}

/** True for a scheme, a host in lower case, and a port. The default port must be missing. */
function isOrigin(one: string): boolean {
  const url = URL.parse(one);
  return url !== null && url.host !== "" && one === `${url.protocol}//${url.host}`;
}

/** True for a host in a URL: a name, an IPv4 address, or an IPv6 address in brackets. */
function isHost(one: string): boolean {
  return URL.parse(`http://${one}/`)?.hostname === one;
}

function isNetwork(one: string): boolean {
  const [address = "", prefix, ...more] = one.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more.length === 0 && bits > 0 && (prefix === undefined || integer(0, bits)(prefix) !== undefined);
}
