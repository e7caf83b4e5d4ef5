import { createClient } from "@redis/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renewScript } from "../../../src/storage/redis/claims.ts";
import { type RedisScript, redisScript } from "../../../src/storage/redis/connection.ts";
import {
  createScript,
  findByHashScript,
  pepperScript,
  pruneScript,
  replaceScript,
  revokeScript,
  touchScript,
  updateScript,
} from "../../../src/storage/redis/key-scripts.ts";
import {
  addScript,
  enterScript,
  holdScript,
  leaveScript,
  usesScript,
} from "../../../src/storage/redis/limit-scripts.ts";
import { announceScript } from "../../../src/storage/redis/nodes.ts";
import { createRandom, type Random } from "../../simulation/random.ts";
import { Rejection, type Reply } from "../../simulation/redis-data.ts";
import { createRedisExecutor } from "../../simulation/redis-executor.ts";
import { describeWith } from "../../support/needs.ts";
import { useRedis } from "../../support/redis.ts";

interface Call {
  readonly script: RedisScript;
  /** The command that the simulated Redis executes in the place of the script. */
  readonly command?: readonly string[];
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** Steps of one history. Each step has its own fraction of a second, so that no key expires in the moment of a call. */
const steps = 30;
const fractionMs = 33;
/** All lifetimes are whole seconds, so lifetimes that differ by less than this are equal. A call takes a few milliseconds. */
const toleranceMs = 300;

/** A node claims a search. */
const claimScript = redisScript("claim", "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])");

/** Returns a random call of a script. All calls concern the same few subjects and API keys, so that they meet. */
function randomCall(random: Random, nowMs: number, entries: string[]): Call {
  const subject = random.pick(["a", "b"]);
  const seconds = () => 1000 * (1 + random.int(5));
  const windows = (name: string) =>
    ["x", "y"].slice(0, random.int(3)).map((rate) => ({
      key: `window:${name}${rate} ${subject}`,
      window: { quota: random.int(6), windowMs: seconds() },
    }));
  const places = `places:${subject}`;
  const turns = `turns:${subject}`;
  const entry = () => (entries.length === 0 ? "none" : random.pick(entries));
  const [time, requests] = [windows("t"), windows("r")];
  const timeKeys = time.map(({ key }) => key);
  const requestKeys = requests.map(({ key }) => key);
  const id = () => random.pick(["k1", "k2", "k3", "k4"]);
  const at = () => Math.floor(nowMs / 1000) * 1000 - 1000 * random.int(6);
  const search = random.pick(["s1", "s2"]);
  const optional = <T>(value: T) => (random.chance(0.5) ? value : undefined);

  const calls: readonly (() => Call)[] = [
    () => ({
      script: enterScript,
      keys: [places, turns, ...timeKeys, ...requestKeys],
      args: [
        JSON.stringify({
          latestMs: optional(nowMs + 1000 * (random.int(4) - 1)),
          concurrent: optional(random.int(3)),
          turn: random.pick([undefined, "", entry()]),
          turnMs: 1000,
          name: `node.${entries.length}`,
          expectedMs: random.between(1, 2000),
          heldMs: seconds(),
          engineTime: time.map(({ window }) => window),
          requests: requests.map(({ window }) => window),
          count: 1 + random.int(2),
        }),
      ],
    }),
    () => ({
      script: leaveScript,
      keys: [places, ...timeKeys, ...requestKeys],
      args: [
        JSON.stringify({
          place: entry(),
          engineMs: random.int(4),
          engineTime: time.map(({ window }) => window.windowMs),
          count: 1 + random.int(3),
        }),
      ],
    }),
    () => ({ script: holdScript, keys: [places, turns], args: [seconds(), entry(), entry()] }),
    () => ({ script: addScript, keys: [`window:rx ${subject}`], args: [random.int(3), seconds()] }),
    () => ({ script: usesScript, keys: requestKeys, args: requestKeys.map(seconds) }),
    () => ({
      script: createScript,
      keys: ["keys:"],
      args: [JSON.stringify(randomKey(random, { id: id(), at: at(), hash: `h${random.int(9)}` }))],
    }),
    () => ({ script: findByHashScript, keys: ["keys:"], args: [`h${random.int(9)}`] }),
    () => ({ script: revokeScript, keys: ["keys:"], args: [id(), at()] }),
    () => ({
      script: updateScript,
      keys: ["keys:"],
      args: [
        id(),
        JSON.stringify({ name: random.pick([undefined, false, "Bobby ♟"]), expires_at: optional(at()) }),
        random.pick(["", at()]),
      ],
    }),
    () => ({
      script: replaceScript,
      keys: ["keys:"],
      args: [
        JSON.stringify({
          earlier: { id: id(), plan: "free", name: optional("Bobby ♟"), expires_at: optional(at()) },
          next: randomKey(random, { id: id(), at: at(), hash: `h${random.int(9)}` }).record,
          ending: random.pick([{ revoked_at: at() }, { expires_at: at() }]),
        }),
      ],
    }),
    () => ({ script: touchScript, keys: ["keys:"], args: [id(), at(), id(), at()] }),
    () => ({ script: pruneScript, keys: ["keys:"], args: [at(), at(), random.int(3)] }),
    () => ({ script: pepperScript, keys: ["keys:"], args: [random.pick(["p", "q"])] }),
    () => ({
      script: renewScript,
      keys: [`claim:${search}`],
      args: [random.pick(["n1", "n2"]), random.pick([0, 1000, 2000])],
    }),
    () => {
      const [key, node, ms] = [`claim:${search}`, random.pick(["n1", "n2"]), String(seconds())];
      return {
        ...{ script: claimScript, keys: [key], args: [node, ms] },
        command: ["SET", key, node, "NX", "PX", ms],
      };
    },
    () => ({
      script: announceScript,
      keys: ["nodes", `node:${subject}`],
      args: [subject, `{"node":"♔${random.int(9)}"}`, seconds()],
    }),
  ];
  return random.pick(calls)();
}

function randomKey(random: Random, { id, at, hash }: { id: string; at: number; hash: string }) {
  const terms = random.chance(0.7) && {
    windowMs: 3000,
    quota: 1 + random.int(2),
    networkQuota: 1 + random.int(3),
    keptMax: 1 + random.int(3),
    endedBefore: at - 1000,
    unusedSince: at - 2000,
  };
  const record = {
    id,
    hash,
    plan: "free",
    created_at: at,
    name: random.chance(0.5) ? "Bobby ♟" : undefined,
    issued_to: random.pick([undefined, "address 1", "address 2"]),
    last_used_at: random.pick([undefined, at + 1000]),
    revoked_at: random.pick([undefined, undefined, at + 1000]),
  };
  return terms
    ? {
        record: {
          ...record,
          issued_to: record.issued_to ?? "address 1",
          network: random.pick([undefined, "network"]),
          wish: random.pick([undefined, "=1", "=2"]),
        },
        terms,
      }
    : { record };
}

/**
 * Lua: the lifetimes become exactly these, and the expired keys are gone. Then the script runs as if this were the time. Returns
 * the reply or the error, and the name and lifetime of each key.
 */
function atTime({ source }: RedisScript, nowMs: number, lifetimes: ReadonlyMap<string, number>): string {
  const time = `{'${Math.floor(nowMs / 1000)}', '${(nowMs % 1000) * 1000}'}`;
  const aging = [...lifetimes].map(([key, ms]) =>
    ms < 0 ? `redis.call('DEL', '${key}')` : `redis.call('PEXPIRE', '${key}', ${ms})`,
  );
  return `${aging.join("\n")}
local function body()
${source.replaceAll("redis.call('TIME')", time)}
end
local isDone, reply = pcall(body)
local lifetimes = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  table.insert(lifetimes, {key, redis.call('PTTL', key)})
end
if not isDone then
  reply = 'error ' .. tostring(reply.err or reply)
end
return {reply or false, lifetimes}`;
}

/** The commands that read a key of each type. */
const readers: Readonly<Record<string, readonly string[]>> = {
  string: ["GET"],
  hash: ["HGETALL"],
  zset: ["ZRANGEBYSCORE", "-inf", "+inf", "WITHSCORES"],
};

function typeOf(key: string): string {
  if (/^(claim|node|keys:hash):|^keys:pepper$/.test(key)) {
    return "string";
  }
  return /^(window|keys:id|keys:wished):/.test(key) ? "hash" : "zset";
}

/** The fields of a hash have no order. */
function inOrder(value: unknown): unknown {
  const isRecord = Array.isArray(value) && value.length % 2 === 0 && value.includes("created_at");
  if (isRecord) {
    return value
      .flatMap((name, index) => (index % 2 === 0 ? [`${name}=${value[index + 1]}`] : []))
      .toSorted();
  }
  return Array.isArray(value) ? value.map(inOrder) : value;
}

describeWith("redis")("the simulated Redis", () => {
  const server = useRedis();
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
  });
  afterAll(() => client.destroy());

  const inReal = (command: readonly string[]): Promise<unknown> => client.sendCommand(command);

  test.each(Array.from({ length: 60 }, (_, seed) => seed))(
    "random calls of all scripts have the same effects in the simulated and in the real Redis: %i",
    async (seed) => {
      await inReal(["FLUSHALL"]);
      const random = createRandom(`scripts ${seed}`);
      let nowMs = Date.UTC(2027, 0, 1);
      const executor = createRedisExecutor(() => nowMs);
      const inSimulation = (command: readonly string[]): Reply => {
        try {
          return executor.execute(command);
        } catch (error) {
          if (error instanceof Rejection) {
            return `error ${error.message}`;
          }
          throw error;
        }
      };
      const entries: string[] = [];
      let lifetimes = new Map<string, number>();

      for (let step = 0; step < steps; step++) {
        const passedMs = 1000 * random.int(3) + fractionMs;
        nowMs += passedMs;
        lifetimes = new Map([...lifetimes].map(([key, ms]) => [key, ms - passedMs]));
        const call = randomCall(random, nowMs, entries);
        const rest = [String(call.keys.length), ...call.keys, ...call.args.map(String)];
        const context = `step ${step}: ${call.script.name} ${rest.join(" ")}`;
        const real = await inReal(["EVAL", atTime(call.script, nowMs, lifetimes), ...rest]);
        const simulated = inSimulation(call.command ?? ["EVAL", call.script.source, ...rest]);
        const keys = inSimulation(["KEYS", "*"]) as readonly string[];
        lifetimes = new Map(keys.map((key) => [key, Number(inSimulation(["PTTL", key]))]));
        const [reply, realLifetimes] = real as [unknown, readonly [string, number][]];
        expectEqual(reply, simulated, context);
        expectEqual(
          realLifetimes.toSorted(([a], [b]) => (a < b ? -1 : 1)),
          [...lifetimes].toSorted(([a], [b]) => (a < b ? -1 : 1)),
          context,
        );
        lifetimes = new Map([...lifetimes].filter(([, ms]) => ms !== -1));
        if (call.script === enterScript && Array.isArray(simulated) && simulated[3]) {
          entries.push(String(simulated[3]));
        }
        for (const key of keys) {
          const [name = "", ...options] = readers[typeOf(key)] as readonly string[];
          const read = [name, key, ...options];
          expect(inOrder(await inReal(read)), `${context}: ${key}`).toEqual(inOrder(inSimulation(read)));
        }
      }
    },
  );
});

/** Like `toEqual`, but lifetimes may differ by the time that the call took. */
function expectEqual(real: unknown, simulated: unknown, context: string): void {
  const near = (one: unknown, other: unknown): unknown =>
    typeof one === "number" && typeof other === "number" && one > 500 && Math.abs(one - other) < toleranceMs
      ? other
      : Array.isArray(one) && Array.isArray(other)
        ? one.map((item, index) => near(item, other[index]))
        : one;
  expect(inOrder(near(real, simulated)), context).toEqual(inOrder(simulated));
}
