import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { SearchClaims } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { nameOf, valueFrom } from "./cache.ts";
import { type Redis, redisScript } from "./connection.ts";
import { listOf } from "./replies.ts";

const claimTimes = {
  /** Milliseconds after which a claim expires if its node does not renew the claim. */
  leaseMs: 1200,
  renewMs: 400,
  pollMs: 50,
} as const;

/** The answer expires in Redis after this time. The waiting nodes read the answer long before. */
const answerMs = 10_000;

interface RedisClaimsOptions<T> {
  readonly format: ValueFormat<T>;
  readonly times?: Partial<{ readonly [Time in keyof typeof claimTimes]: number }>;
}

/** Arguments: the id of the claim, and the new expiry in milliseconds. An expiry of 0 ends the claim. */
const renewScript = redisScript(
  "renew_claim",
  `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end`,
);

/** Redis keys: `claim:<search>` contains the id of the claim, `found:<id>` contains the answer for the waiting nodes. */
export function createRedisClaims<T>(
  redis: Redis,
  { format, times }: RedisClaimsOptions<T>,
): SearchClaims<T> {
  const { leaseMs, renewMs, pollMs } = { ...claimTimes, ...times };

  const renew = (key: string, id: string, ms: number) =>
    void redis.run(renewScript, [key], [id, ms]).catch(() => {});

  async function answerOf(key: string, id: string, signal: AbortSignal): Promise<T | undefined> {
    for (;;) {
      await sleep(pollMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) {
        return undefined;
      }
      // Use the normal timeout: if the call fails, this node runs the search, which takes longer than the timeout.
      const reply = await redis.ask("MGET", [key, `found:${id}`]).catch(() => []);
      const [holder, found] = listOf(reply);
      if (typeof found === "string") {
        return valueFrom(found, format);
      }
      if (holder !== id) {
        return undefined;
      }
    }
  }

  return {
    async claim(search) {
      const key = `claim:${nameOf(search, format)}`;
      const id = randomUUID();
      const [, holder] = await Promise.all([
        redis.boundedCall("SET", [key], [id, "NX", "PX", leaseMs]),
        redis.boundedCall("GET", [key]),
      ]);
      if (typeof holder !== "string") {
        // Redis is unavailable or slow, so this node runs the search. A claim that Redis has stored after all will expire.
        return { kind: "held", publish() {}, [Symbol.dispose]() {} };
      }
      if (holder !== id) {
        return { kind: "taken", answer: (signal) => answerOf(key, holder, signal), [Symbol.dispose]() {} };
      }
      const renewing = setInterval(() => renew(key, id, leaseMs), renewMs);
      return {
        kind: "held",
        publish(value) {
          void redis.boundedCall("SET", [`found:${id}`], [JSON.stringify(value), "PX", answerMs]);
        },
        [Symbol.dispose]() {
          clearInterval(renewing);
          renew(key, id, 0);
        },
      };
    },
  };
}
