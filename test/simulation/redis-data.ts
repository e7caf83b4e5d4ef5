/** A reply as a script of Redis sees it. */
export type Reply = string | number | null | readonly Reply[];

/** Redis rejects the command. The message begins with an error code. */
export class Rejection extends Error {}

export interface RedisData {
  /** Executes one command, as `redis.call` does. Throws a Rejection. */
  call(command: string, ...args: readonly (string | number)[]): Reply;
  clear(): void;
}

type Value =
  | { readonly type: "string"; text: string }
  | { readonly type: "hash"; readonly fields: Map<string, string> }
  | { readonly type: "zset"; readonly scores: Map<string, number> }
  | { readonly type: "list"; readonly items: string[] };

type ValueOf<Type extends Value["type"]> = Extract<Value, { readonly type: Type }>;

/** Commands that change data. Commands with `true` may need more memory, so Redis rejects them if it is full. */
export const writes: Readonly<Record<string, boolean>> = {
  SET: true,
  INCR: true,
  RPUSH: true,
  LPUSH: true,
  HSET: true,
  HSETNX: true,
  HINCRBY: true,
  ZADD: true,
  DEL: false,
  HDEL: false,
  PEXPIRE: false,
  ZREM: false,
  ZREMRANGEBYSCORE: false,
};

const notInteger = "ERR value is not an integer or out of range";

/**
 * The commands of Redis that Kibitz and its tests use, with their errors.
 * @param clock returns Redis's time in milliseconds since 1970
 */
export function createRedisData(clock: () => number): RedisData {
  const values = new Map<string, { value: Value; expiresAt?: number | undefined }>();

  /** One clock for a whole command: Redis also reads its clock once for a command or script. */
  const nowMs = () => Math.floor(clock());

  function entryOf(key: string) {
    const entry = values.get(key);
    if (entry?.expiresAt !== undefined && nowMs() > entry.expiresAt) {
      values.delete(key);
      return undefined;
    }
    return entry;
  }

  function find<Type extends Value["type"]>(key: string, type: Type): ValueOf<Type> | undefined {
    const value = entryOf(key)?.value;
    if (value !== undefined && value.type !== type) {
      throw new Rejection("WRONGTYPE Operation against a key holding the wrong kind of value");
    }
    return value as ValueOf<Type> | undefined;
  }

  function make<T extends Value>(key: string, fresh: T): T {
    const found = find(key, fresh.type);
    if (found === undefined) {
      values.set(key, { value: fresh });
    }
    return (found as T | undefined) ?? fresh;
  }

  const listOf = (key: string) => make<ValueOf<"list">>(key, { type: "list", items: [] }).items;
  const fieldsOf = (key: string) => find(key, "hash")?.fields ?? new Map<string, string>();
  const scoresOf = (key: string) => find(key, "zset")?.scores ?? new Map<string, number>();

  /** Deletes the members of a hash or sorted set, and the key with its last member. */
  function remove(key: string, from: Map<string, unknown>, members: readonly string[]): number {
    const count = members.filter((member) => from.delete(member)).length;
    if (from.size === 0) {
      values.delete(key);
    }
    return count;
  }

  /** The members of a sorted set, lowest score first, and by their bytes if the scores are equal. */
  const sorted = (key: string) =>
    [...scoresOf(key)].toSorted(([a, scoreA], [b, scoreB]) => scoreA - scoreB || (a < b ? -1 : 1));

  function within(key: string, least: string, most: string) {
    const isAbove = boundFrom(least);
    const isBelow = boundFrom(most);
    return sorted(key).filter(([, score]) => isAbove(score, 1) && isBelow(score, -1));
  }

  function expire(key: string, ms: number): number {
    const entry = entryOf(key);
    if (entry === undefined) {
      return 0;
    }
    if (ms <= 0) {
      values.delete(key);
    } else {
      entry.expiresAt = nowMs() + ms;
    }
    return 1;
  }

  const commands: Readonly<Record<string, (...args: string[]) => Reply>> = {
    PING: () => "PONG",
    INFO: () => "maxmemory_policy:noeviction",
    TIME() {
      const us = Math.floor(clock() * 1000);
      return [String(Math.floor(us / 1e6)), String(us % 1e6)];
    },
    KEYS(pattern = "") {
      const regex = new RegExp(`^${RegExp.escape(pattern).replaceAll("\\*", ".*")}$`, "s");
      return [...values.keys()].filter((key) => regex.test(key) && entryOf(key) !== undefined);
    },
    EXISTS: (...keys) => keys.filter((key) => entryOf(key) !== undefined).length,
    DEL: (...keys) => keys.filter((key) => entryOf(key) !== undefined && values.delete(key)).length,
    PTTL(key = "") {
      const entry = entryOf(key);
      if (entry === undefined) {
        return -2;
      }
      return entry.expiresAt === undefined ? -1 : entry.expiresAt - nowMs();
    },
    PEXPIRE: (key = "", ms) => expire(key, integerFrom(ms)),
    GET: (key = "") => find(key, "string")?.text ?? null,
    MGET: (...keys) =>
      keys.map((key) => {
        const value = entryOf(key)?.value;
        return value?.type === "string" ? value.text : null;
      }),
    SET(key = "", text = "", ...options) {
      let isNew = false;
      let ms: number | undefined;
      for (let at = 0; at < options.length; at++) {
        const option = options[at]?.toUpperCase();
        if (option === "NX") {
          isNew = true;
        } else if (option === "PX") {
          ms = integerFrom(options[++at]);
        } else {
          throw new Rejection("ERR syntax error");
        }
      }
      if (ms !== undefined && ms <= 0) {
        throw new Rejection("ERR invalid expire time in 'set' command");
      }
      if (isNew && entryOf(key) !== undefined) {
        return null;
      }
      values.set(key, {
        value: { type: "string", text },
        expiresAt: ms === undefined ? undefined : nowMs() + ms,
      });
      return "OK";
    },
    INCR(key = "") {
      const value = make(key, { type: "string", text: "0" });
      const sum = integerFrom(value.text) + 1;
      value.text = String(sum);
      return sum;
    },
    RPUSH: (key = "", ...items) => listOf(key).push(...items),
    LPUSH: (key = "", ...items) => listOf(key).unshift(...items.toReversed()),
    HGET: (key = "", field = "") => fieldsOf(key).get(field) ?? null,
    HMGET(key = "", ...fields) {
      const known = fieldsOf(key);
      return fields.map((field) => known.get(field) ?? null);
    },
    HGETALL: (key = "") => [...fieldsOf(key)].flat(),
    HSET(key = "", ...pairs) {
      const { fields } = make(key, { type: "hash", fields: new Map() });
      const before = fields.size;
      for (let at = 0; at < pairs.length; at += 2) {
        fields.set(pairs[at] as string, pairs[at + 1] as string);
      }
      return fields.size - before;
    },
    HSETNX(key = "", field = "", value = "") {
      const { fields } = make(key, { type: "hash", fields: new Map() });
      const isNew = !fields.has(field);
      if (isNew) {
        fields.set(field, value);
      }
      return Number(isNew);
    },
    HINCRBY(key = "", field = "", amount) {
      const by = integerFrom(amount);
      const { fields } = make(key, { type: "hash", fields: new Map() });
      const sum = integerFrom(fields.get(field) ?? "0", "ERR hash value is not an integer") + by;
      fields.set(field, String(sum));
      return sum;
    },
    HDEL: (key = "", ...fields) => remove(key, fieldsOf(key), fields),
    ZADD(key = "", ...rest) {
      const start = rest.findIndex((text) => !["XX", "NX", "GT", "LT"].includes(text));
      const options = rest.slice(0, start);
      const scored: [string, number][] = [];
      for (let at = start; at < rest.length; at += 2) {
        scored.push([rest[at + 1] as string, scoreFrom(rest[at])]);
      }
      if (options.includes("XX") && find(key, "zset") === undefined) {
        return 0;
      }
      const { scores } = make(key, { type: "zset", scores: new Map() });
      const before = scores.size;
      for (const [member, score] of scored) {
        const known = scores.get(member);
        const isLeftOut =
          known === undefined ? options.includes("XX") : options.includes("GT") && score <= known;
        if (!isLeftOut) {
          scores.set(member, score);
        }
      }
      return scores.size - before;
    },
    ZREM: (key = "", ...members) => remove(key, scoresOf(key), members),
    ZCARD: (key = "") => scoresOf(key).size,
    ZSCORE(key = "", member = "") {
      const score = scoresOf(key).get(member);
      return score === undefined ? null : String(score);
    },
    ZCOUNT: (key = "", least = "", most = "") => within(key, least, most).length,
    ZRANGE(key = "", first, last) {
      const all = sorted(key).map(([member]) => member);
      const end = integerFrom(last);
      return all.slice(integerFrom(first), end === -1 ? undefined : end + 1);
    },
    ZRANGEBYSCORE: (key = "", least = "", most = "", ...options) => listed(within(key, least, most), options),
    ZREVRANGEBYSCORE: (key = "", most = "", least = "", ...options) =>
      listed(within(key, least, most).toReversed(), options),
    ZREMRANGEBYSCORE(key = "", least = "", most = "") {
      const members = within(key, least, most).map(([member]) => member);
      return remove(key, scoresOf(key), members);
    },
  };

  return {
    call(command, ...args) {
      const run = commands[command];
      if (run === undefined) {
        throw new Rejection(`ERR unknown command '${command}'`);
      }
      return run(...args.map(String));
    },
    clear: () => values.clear(),
  };
}

function listed(found: readonly (readonly [string, number])[], options: readonly string[]): Reply {
  const limit = options.indexOf("LIMIT");
  const offset = limit === -1 ? 0 : integerFrom(options[limit + 1]);
  const count = limit === -1 ? -1 : integerFrom(options[limit + 2]);
  // Redis returns nothing for a negative offset, and everything for a negative count.
  const some = offset < 0 ? [] : found.slice(offset, count < 0 ? undefined : offset + count);
  return options.includes("WITHSCORES")
    ? some.flatMap(([member, score]) => [member, String(score)])
    : some.map(([member]) => member);
}

/** Returns true if the score is on the side `sign` of the bound. `(` excludes the bound. */
function boundFrom(text: string): (score: number, sign: 1 | -1) => boolean {
  const isOpen = text.startsWith("(");
  const bound = scoreFrom(isOpen ? text.slice(1) : text, "ERR min or max is not a float");
  return (score, sign) => (score - bound) * sign > 0 || (!isOpen && score === bound);
}

function integerFrom(text: string | undefined, otherwise = notInteger): number {
  if (text === undefined || !/^(0|-?[1-9]\d*)$/.test(text)) {
    throw new Rejection(otherwise);
  }
  return Number(text);
}

function scoreFrom(text: string | undefined, otherwise = "ERR value is not a valid float"): number {
  const infinite = /^([+-]?)inf$/i.exec(text ?? "");
  const score = infinite ? Number(`${infinite[1]}Infinity`) : Number(text);
  if (text === undefined || text.trim() === "" || Number.isNaN(score)) {
    throw new Rejection(otherwise);
  }
  return score;
}
