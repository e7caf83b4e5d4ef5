import { keyRules } from "../../src/storage/key-rules.ts";
import { renewScript } from "../../src/storage/redis/claims.ts";
import {
  countScript,
  createAllScript,
  createScript,
  findByHashScript,
  pepperScript,
  pruneScript,
  replaceScript,
  revokeScript,
  touchScript,
  updateScript,
} from "../../src/storage/redis/key-scripts.ts";
import {
  addScript,
  type EnterArguments,
  enterScript,
  holdScript,
  type LeaveArguments,
  leaveScript,
  usesScript,
} from "../../src/storage/redis/limit-scripts.ts";
import { announceScript } from "../../src/storage/redis/nodes.ts";
import type { RedisData, Reply } from "./redis-data.ts";

type Call = RedisData["call"];

/** A Lua script in TypeScript: line by line the same, with the same names. */
type Script = (call: Call, keys: readonly string[], args: readonly string[]) => Reply;

/** As `whole` in the scripts: `string.format('%.0f', number)`, which rounds half to even. */
function whole(value: number | string): string {
  const number = Number(value);
  const down = Math.floor(number);
  const isHalf = number - down === 0.5;
  const rounded = isHalf ? down + (down % 2 === 0 ? 0 : 1) : Math.round(number);
  return Object.is(number, -0) || (rounded === 0 && number < 0) ? "-0" : String(rounded);
}

const textOf = (reply: Reply) => (reply === null ? null : String(reply));
const textsOf = (reply: Reply) => reply as readonly string[];

function clock(call: Call): number {
  const [seconds, microseconds] = textsOf(call("TIME")).map(Number) as [number, number];
  return seconds * 1000 + Math.floor(microseconds / 1000);
}

// The scripts of limits.

type Use = readonly [used: number, leftMs: number];

function useOf(call: Call, key: string, windowMs: number): Use {
  let left = Number(call("PTTL", key));
  if (left <= 0) {
    return [0, -1];
  }
  if (windowMs < left) {
    call("PEXPIRE", key, whole(windowMs));
    left = windowMs;
  }
  return [Number(call("HGET", key, "used") ?? 0), left];
}

function add(call: Call, key: string, amount: number | string, windowMs: number): Use {
  const used = Number(call("HINCRBY", key, "used", whole(amount)));
  let left = Number(call("PTTL", key));
  if (left < 0 || windowMs < left) {
    call("PEXPIRE", key, whole(windowMs));
    left = windowMs;
  }
  return [used, left];
}

const enter: Script = (call, keys, [json = ""]) => {
  const asked: EnterArguments = JSON.parse(json);
  const [places = "", turns = ""] = keys;
  const now = clock(call);
  if (asked.latestMs !== undefined && now > asked.latestMs) {
    return ["late"];
  }
  const from = `(${whole(now)}`;
  const till = whole(now + asked.heldMs);
  const turnsTill = whole(now + asked.turnMs);
  const turn = asked.turn === "" ? `${whole(now)}:${asked.name}` : asked.turn;

  function isBusy(concurrent: number): boolean {
    const others = textsOf(call("ZRANGEBYSCORE", turns, from, turnsTill));
    const before = others.filter((other) => turn === undefined || other < turn).length;
    return Number(call("ZCOUNT", places, from, till)) + before >= concurrent;
  }

  if (asked.concurrent !== undefined && isBusy(asked.concurrent)) {
    if (turn !== undefined) {
      call("ZADD", turns, whole(now + asked.turnMs), turn);
      call("PEXPIRE", turns, whole(asked.turnMs));
    }
    return ["busy", whole(now), call("ZRANGEBYSCORE", places, from, till, "LIMIT", 0, 100), turn ?? ""];
  }
  if (turn !== undefined) {
    call("ZREM", turns, turn);
  }

  function roomIn(windows: EnterArguments["requests"], before: number, count: number) {
    const uses = windows.map(({ windowMs }, index) => useOf(call, keys[before + index] as string, windowMs));
    return { uses, isFull: windows.some(({ quota }, index) => (uses[index] as Use)[0] + count > quota) };
  }

  const before = 2 + asked.engineTime.length;
  const { uses: engineTime, isFull: isExhausted } = roomIn(asked.engineTime, 2, 1);
  const { uses, isFull } = roomIn(asked.requests, before, asked.count);
  if (isExhausted) {
    return ["exhausted", engineTime, uses];
  }
  if (isFull) {
    return ["full", engineTime, uses];
  }
  let place = "";
  if (asked.concurrent !== undefined) {
    place = `${asked.name}:${whole(now)}:${whole(asked.expectedMs)}`;
    call("ZADD", places, whole(now + asked.heldMs), place);
    call("PEXPIRE", places, whole(asked.heldMs));
    call("ZREMRANGEBYSCORE", places, "-inf", whole(now));
  }
  const counted = asked.requests.map(({ windowMs }, index) =>
    add(call, keys[before + index] as string, asked.count, windowMs),
  );
  return ["entered", engineTime, counted, place];
};

const leave: Script = (call, keys, [json = ""]) => {
  const left: LeaveArguments = JSON.parse(json);
  call("ZREM", keys[0] as string, left.place);
  for (const [index, windowMs] of left.engineTime.entries()) {
    add(call, keys[1 + index] as string, left.engineMs, windowMs);
  }
  for (const key of keys.slice(1 + left.engineTime.length)) {
    const used = Number(call("HGET", key, "used") ?? 0);
    if (used > 0) {
      call("HINCRBY", key, "used", whole(-Math.min(used, left.count)));
    }
  }
  return null;
};

const hold: Script = (call, keys, [heldMs = "", ...entries]) => {
  const untilMs = whole(clock(call) + Number(heldMs));
  for (const [index, key] of keys.entries()) {
    call("ZADD", key, untilMs, entries[index] as string);
    call("PEXPIRE", key, heldMs);
  }
  return null;
};

// The scripts of API keys.

function forget(call: Call, keys: string, id: string): void {
  const known = call("HMGET", `${keys}id:${id}`, "hash", "issued_to", "network", "wish");
  const [hash, address, network, wish] = textsOf(known) as readonly (string | null)[];
  call("DEL", `${keys}id:${id}`);
  if (hash != null) {
    call("DEL", `${keys}hash:${hash}`);
  }
  for (const name of ["all", "revoked", "unused", "expires"]) {
    call("ZREM", keys + name, id);
  }
  if (network != null) {
    call("ZREM", `${keys}near:${network}`, id);
  }
  if (address != null) {
    call("ZREM", `${keys}of:${address}`, id);
    if (wish != null && call("HGET", `${keys}wished:${address}`, wish) === id) {
      call("HDEL", `${keys}wished:${address}`, wish);
    }
  }
}

function forgetEnded(
  call: Call,
  keys: string,
  endedBefore: string,
  unusedSince: string,
  max: number,
): number {
  let count = 0;
  for (const [name, before] of [
    ["revoked", endedBefore],
    ["expires", endedBefore],
    ["unused", unusedSince],
  ]) {
    if (count < max) {
      const ids = call("ZRANGEBYSCORE", keys + name, "-inf", `(${before}`, "LIMIT", 0, max - count);
      for (const id of textsOf(ids)) {
        forget(call, keys, id);
        count++;
      }
    }
  }
  return count;
}

type Made = CreateArguments["record"];

function isKept(call: Call, keys: string, { id, hash }: Made): boolean {
  return Number(call("EXISTS", `${keys}id:${id}`, `${keys}hash:${hash}`)) > 0;
}

function keep(call: Call, keys: string, made: Made): void {
  const { id, created_at: createdAt, issued_to: address, network, wish } = made;
  for (const [field, value] of Object.entries(made)) {
    call("HSET", `${keys}id:${id}`, field, typeof value === "number" ? whole(value) : value);
  }
  call("SET", `${keys}hash:${made.hash}`, id);
  call("ZADD", `${keys}all`, whole(createdAt), id);
  if (made.revoked_at !== undefined) {
    call("ZADD", `${keys}revoked`, whole(made.revoked_at), id);
  }
  if (made.expires_at !== undefined) {
    call("ZADD", `${keys}expires`, whole(made.expires_at), id);
  }
  if (network !== undefined) {
    call("ZADD", `${keys}near:${network}`, whole(createdAt), id);
  }
  if (address !== undefined) {
    call("ZADD", `${keys}of:${address}`, whole(createdAt), id);
    call("ZADD", `${keys}unused`, whole(Math.max(createdAt, made.last_used_at ?? 0)), id);
    if (wish !== undefined) {
      call("HSET", `${keys}wished:${address}`, wish, id);
    }
  }
}

interface CreateArguments {
  readonly record: Readonly<Record<string, string | number>> & {
    readonly id: string;
    readonly hash: string;
    readonly created_at: number;
    readonly issued_to?: string;
    readonly network?: string;
    readonly wish?: string;
    readonly revoked_at?: number;
    readonly expires_at?: number;
    readonly last_used_at?: number;
  };
  readonly terms?: {
    readonly windowMs: number;
    readonly quota: number;
    readonly networkQuota: number;
    readonly keptMax: number;
    readonly endedBefore: number;
    readonly unusedSince: number;
  };
}

const create: Script = (call, [keys = ""], [json = ""]) => {
  const { record: made, terms }: CreateArguments = JSON.parse(json);
  const { hash, created_at: createdAt, issued_to: address, network, wish } = made;
  const record = (of: string) => call("HGETALL", `${keys}id:${of}`);

  if (call("EXISTS", `${keys}hash:${hash}`) === 1) {
    return ["taken"];
  }
  if (terms) {
    const since = createdAt - terms.windowMs;
    const till = createdAt + terms.windowMs;
    const range = [`(${whole(till)}`, `(${whole(since)}`, "WITHSCORES", "LIMIT"];
    const oldestOf = (name: string, max: number) =>
      textsOf(call("ZREVRANGEBYSCORE", keys + name, ...range, max - 1, 1))[1];
    const isFull = () => Number(call("ZCARD", `${keys}unused`)) >= terms.keptMax;

    const before = wish === undefined ? null : textOf(call("HGET", `${keys}wished:${address}`, wish));
    if (before !== null) {
      const known = call("HMGET", `${keys}id:${before}`, "created_at", "revoked_at", "hash");
      const [createdText, revokedAt, knownHash] = textsOf(known) as readonly (string | null)[];
      const at = Number(createdText ?? Number.NaN);
      if (at > since && at < till && revokedAt === null) {
        call("HSET", `${keys}id:${before}`, "hash", hash);
        call("DEL", `${keys}hash:${knownHash}`);
        call("SET", `${keys}hash:${hash}`, before);
        return ["renewed", record(before)];
      }
    }
    const oldest = oldestOf(`of:${address}`, terms.quota);
    if (oldest !== undefined) {
      return ["too_many", "address", oldest];
    }
    const oldestNear = network === undefined ? undefined : oldestOf(`near:${network}`, terms.networkQuota);
    if (oldestNear !== undefined) {
      return ["too_many", "network", oldestNear];
    }
    if (isFull()) {
      forgetEnded(call, keys, whole(terms.endedBefore), whole(terms.unusedSince), keyRules.endedAtOnce);
      if (isFull()) {
        return ["full"];
      }
    }
  }
  if (isKept(call, keys, made)) {
    return ["taken"];
  }
  keep(call, keys, made);
  return ["created"];
};

const createAll: Script = (call, [keys = ""], [json = ""]) => {
  const all: readonly Made[] = JSON.parse(json);
  const names = new Set(all.flatMap(({ id, hash }) => [`id ${id}`, `hash ${hash}`]));
  if (names.size < 2 * all.length || all.some((made) => isKept(call, keys, made))) {
    return 0;
  }
  for (const made of all) {
    keep(call, keys, made);
  }
  return 1;
};

function indexEnd(call: Call, keys: string, id: string): void {
  const expiresAt = textOf(call("HGET", `${keys}id:${id}`, "expires_at"));
  if (expiresAt === null) {
    call("ZREM", `${keys}expires`, id);
  } else {
    call("ZADD", `${keys}expires`, expiresAt, id);
  }
}

const update: Script = (call, [keys = ""], [id = "", json = "", endsBy = ""]) => {
  const key = `${keys}id:${id}`;
  if (call("EXISTS", key) === 0 || call("HGET", key, "revoked_at") !== null) {
    return [];
  }
  const before = call("HGETALL", key);
  for (const [field, value] of Object.entries<string | number | false>(JSON.parse(json))) {
    if (value === false) {
      call("HDEL", key, field);
    } else {
      call("HSET", key, field, typeof value === "number" ? whole(value) : value);
    }
  }
  const expiresAt = textOf(call("HGET", key, "expires_at"));
  if (endsBy !== "" && (expiresAt === null || Number(endsBy) < Number(expiresAt))) {
    call("HSET", key, "expires_at", endsBy);
  }
  indexEnd(call, keys, id);
  return [before, call("HGETALL", key)];
};

interface ReplaceArguments {
  readonly earlier: {
    readonly id: string;
    readonly plan: string;
    readonly name?: string;
    readonly expires_at?: number;
  };
  readonly next: Made;
  readonly ending: { readonly revoked_at: number } | { readonly expires_at: number };
}

const replace: Script = (call, [keys = ""], [json = ""]) => {
  const { earlier, next: made, ending }: ReplaceArguments = JSON.parse(json);
  const { id } = earlier;
  const key = `${keys}id:${id}`;
  const known = textsOf(call("HMGET", key, "plan", "name", "expires_at", "revoked_at", "replaced_by"));
  const end = earlier.expires_at === undefined ? null : whole(earlier.expires_at);
  const isSame = known[0] === earlier.plan && known[1] === (earlier.name ?? null) && known[2] === end;
  if (!isSame || known[3] !== null || known[4] !== null) {
    return "changed";
  }
  if (isKept(call, keys, made)) {
    return "taken";
  }
  keep(call, keys, made);
  call("HSET", key, "replaced_by", made.id);
  if ("revoked_at" in ending) {
    call("HSET", key, "revoked_at", whole(ending.revoked_at));
    call("ZADD", `${keys}revoked`, whole(ending.revoked_at), id);
  } else {
    call("HSET", key, "expires_at", whole(ending.expires_at));
  }
  indexEnd(call, keys, id);
  return "replaced";
};

const revoke: Script = (call, [keys], [id = "", at = ""]) => {
  const key = `${keys}id:${id}`;
  if (call("EXISTS", key) === 0) {
    return 0;
  }
  if (call("HSETNX", key, "revoked_at", at) === 1) {
    call("ZADD", `${keys}revoked`, at, id);
  }
  return 1;
};

const touch: Script = (call, [keys], uses) => {
  for (let at = 0; at < uses.length; at += 2) {
    const [id = "", usedAt = ""] = uses.slice(at, at + 2);
    const key = `${keys}id:${id}`;
    if (call("EXISTS", key) === 1 && Number(usedAt) > Number(call("HGET", key, "last_used_at") ?? 0)) {
      call("HSET", key, "last_used_at", usedAt);
      call("ZADD", `${keys}unused`, "XX", "GT", usedAt, id);
    }
  }
  return 1;
};

const count: Script = (call, [keys], [from = "", offset = "", max = ""]) => {
  const range = [from, "+inf", "WITHSCORES", "LIMIT", offset, max];
  const found = textsOf(call("ZRANGEBYSCORE", `${keys}all`, ...range));
  const plans: string[] = [];
  let [last, same] = [from, Number(offset)];
  for (let at = 0; at < found.length; at += 2) {
    const known = call("HMGET", `${keys}id:${found[at]}`, "plan", "revoked_at");
    const [plan, revokedAt] = textsOf(known) as readonly (string | null)[];
    if (plan != null && revokedAt === null) {
      plans.push(plan);
    }
    same = found[at + 1] === last ? same + 1 : 1;
    last = found[at + 1] as string;
  }
  return [found.length === 2 * Number(max) ? [last, String(same)] : [], plans];
};

const keepPepper: Script = (call, [keys], [value = ""]) => {
  const kept = call("GET", `${keys}pepper`);
  if (kept !== null && Number(call("ZCARD", `${keys}all`)) > Number(call("ZCARD", `${keys}revoked`))) {
    return kept;
  }
  call("SET", `${keys}pepper`, value);
  return value;
};

// The scripts of shared searches and of nodes.

const renew: Script = (call, [claim = ""], [id = "", ms = ""]) => {
  if (call("GET", claim) === id) {
    call("PEXPIRE", claim, ms);
  }
  return null;
};

const announce: Script = (call, [list = "", report = ""], [id = "", text = "", ms = ""]) => {
  const now = clock(call);
  call("SET", report, text, "PX", ms);
  call("ZADD", list, now + Number(ms), id);
  call("ZREMRANGEBYSCORE", list, "-inf", now);
  call("PEXPIRE", list, ms);
  return call("ZCARD", list);
};

const scripts: ReadonlyMap<string, Script> = new Map([
  [enterScript.sha1, enter],
  [leaveScript.sha1, leave],
  [holdScript.sha1, hold],
  [addScript.sha1, (call, [key = ""], [amount = "", windowMs]) => add(call, key, amount, Number(windowMs))],
  [usesScript.sha1, (call, keys, args) => keys.map((key, index) => useOf(call, key, Number(args[index])))],
  [createScript.sha1, create],
  [createAllScript.sha1, createAll],
  [updateScript.sha1, update],
  [replaceScript.sha1, replace],
  [
    findByHashScript.sha1,
    (call, [keys], [hash]) => {
      const id = textOf(call("GET", `${keys}hash:${hash}`));
      return id === null ? [] : call("HGETALL", `${keys}id:${id}`);
    },
  ],
  [revokeScript.sha1, revoke],
  [touchScript.sha1, touch],
  [countScript.sha1, count],
  [
    pruneScript.sha1,
    (call, [keys = ""], [endedBefore = "", unusedSince = "", max]) =>
      forgetEnded(call, keys, endedBefore, unusedSince, Number(max)),
  ],
  [pepperScript.sha1, keepPepper],
  [renewScript.sha1, renew],
  [announceScript.sha1, announce],
]);

/** Runs the script with this hash. */
export function runScript(sha1: string, call: Call, keys: readonly string[], args: readonly string[]): Reply {
  const script = scripts.get(sha1);
  if (script === undefined) {
    throw new Error("the simulated Redis does not know this script: write it in redis-scripts.ts");
  }
  return truncated(script(call, keys, args));
}

/** Redis cuts the numbers of a script's reply to integers. */
function truncated(reply: Reply): Reply {
  if (typeof reply === "number") {
    return Math.trunc(reply);
  }
  return typeof reply === "object" && reply !== null ? reply.map(truncated) : reply;
}
