import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { SearchClaims } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { nameOf, valueFrom } from "./cache.ts";
import { type Redis, redisScript } from "./connection.ts";
import { listOf } from "./replies.ts";

const claimTimes = {
  /** A claim expires after this time if its node does not renew it. */
  leaseMs: 1200,
  renewMs: 400,
  /** The interval at which a waiting node looks for the answer. */
  pollMs: 50,
} as const;

/** An answer is stored for this time for the nodes that wait for it. */
const answerMs = 10_000;

interface RedisClaimsOptions<T> {
  readonly format: ValueFormat<T>;
  /** Tests use shorter times. */
  readonly times?: Partial<{ readonly [Time in keyof typeof claimTimes]: number }>;
}

/** Renews a claim, or ends it if the time is 0. Does nothing if another node has taken it. */
const renewScript = redisScript(
  "renew_claim",
  `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end`,
);

/**
 * Names in Redis:
 * - `claim:<search>` is a text: the id of the claim. It expires if the node that holds the claim is killed or cut off.
 * - `found:<id>` is a text: the answer that was found under this claim, for the nodes that wait for it.
 */
export function createRedisClaims<T>(
  redis: Redis,
  { format, times }: RedisClaimsOptions<T>,
): SearchClaims<T> {
  const { leaseMs, renewMs, pollMs } = { ...claimTimes, ...times };

  /** A claim ends if `ms` is 0. If renewing fails, the claim expires. */
  const renew = (key: string, id: string, ms: number) =>
    void redis.run(renewScript, [key], [id, ms]).catch(() => {});

  async function answerOf(key: string, id: string, signal: AbortSignal): Promise<T | undefined> {
    for (;;) {
      await sleep(pollMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) {
        return undefined;
      }
      // This call is not brief: if it fails, this node searches too, and a search takes longer than a normal timeout.
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
        redis.askBriefly("SET", [key], [id, "NX", "PX", leaseMs]),
        redis.askBriefly("GET", [key]),
      ]);
      if (typeof holder !== "string") {
        // Redis is down or slow. If it accepts the claim late, the claim expires.
        return { kind: "held", publish() {}, [Symbol.dispose]() {} };
      }
      if (holder !== id) {
        return { kind: "taken", answer: (signal) => answerOf(key, holder, signal), [Symbol.dispose]() {} };
      }
      const renewing = setInterval(() => renew(key, id, leaseMs), renewMs);
      return {
        kind: "held",
        publish(value) {
          void redis.askBriefly("SET", [`found:${id}`], [JSON.stringify(value), "PX", answerMs]);
        },
        [Symbol.dispose]() {
          clearInterval(renewing);
          renew(key, id, 0);
        },
      };
    },
  };
}
