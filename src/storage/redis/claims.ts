import { randomUUID } from "node:crypto";
import { every, sleep } from "../../time/time.ts";
import type { SearchClaim, SearchClaims, WatchedSearch } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { nameOf, valueFrom } from "./cache.ts";
import { type Redis, redisScript } from "./connection.ts";

const claimTimes = {
  /** Milliseconds after which a claim expires if its node does not renew the claim. */
  leaseMs: 1200,
  renewMs: 400,
  /** The interval between two looks while another node searches. */
  pollMs: 50,
  /** The interval between two looks while this node waits for a slot. */
  queuePollMs: 400,
} as const;

/** The answer expires in Redis after this time. The watching nodes read the answer long before. */
const answerMs = 10_000;

export type ClaimTimes = { readonly [Time in keyof typeof claimTimes]: number };

interface RedisClaimsOptions<T> {
  readonly format: ValueFormat<T>;
  readonly times?: Partial<ClaimTimes>;
}

/** Arguments: the id of the claim, and the new expiry in milliseconds. An expiry of 0 ends the claim. */
export const renewScript = redisScript(
  "renew_claim",
  `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end`,
);

/** The replies to GET for both keys of a search. The answer is undefined if Redis did not reply. */
type Replies = readonly [holder: unknown, answer: unknown];

const idLength = randomUUID().length;

/**
 * Redis keys: `claim:<search>` contains the id of the claim, `found:<search>` contains the id of the last claim with an answer,
 * and then the answer.
 */
export function createRedisClaims<T>(
  redis: Redis,
  { format, times }: RedisClaimsOptions<T>,
): SearchClaims<T> {
  const { leaseMs, renewMs, pollMs, queuePollMs } = { ...claimTimes, ...times };

  const renew = (key: string, id: string, ms: number) =>
    void redis.run(renewScript, [key], [id, ms]).catch(() => {});

  function held(keys: readonly [claim: string, found: string], id: string): SearchClaim<T> {
    const [claim, found] = keys;
    const renewing = every(renewMs, () => renew(claim, id, leaseMs));
    return {
      publish(value) {
        void redis.boundedCall("SET", [found], [id + JSON.stringify(value), "PX", answerMs]);
      },
      [Symbol.dispose]() {
        renewing.cancel();
        renew(claim, id, 0);
      },
    };
  }

  return {
    async watch(search) {
      const name = nameOf(search, format);
      const keys = [`claim:${name}`, `found:${name}`] as const;
      let isTaken = false;
      let answer: T | undefined;
      /** The id of the answer that was published before the request arrived. Undefined until Redis has replied. */
      let earlier: string | undefined;

      function note([holder, reply]: Replies): void {
        if (reply === undefined) {
          isTaken = false;
          return;
        }
        const text = typeof reply === "string" ? reply : "";
        const id = text.slice(0, idLength);
        if (earlier !== undefined && id !== "" && id !== earlier) {
          answer = valueFrom(text.slice(idLength), format);
        }
        earlier ??= id;
        isTaken = typeof holder === "string" || answer !== undefined;
      }

      const look = async (get: (key: string) => Promise<unknown>) =>
        note(await Promise.all([get(keys[0]), get(keys[1])]));
      /** Use the normal timeout: if the call fails, this node runs the search, which takes longer than the timeout. */
      const patient = (key: string) => redis.ask("GET", [key]).catch(() => undefined);
      const brief = (key: string) => redis.boundedCall("GET", [key]);

      const watched: WatchedSearch<T> = {
        get isTaken() {
          return isTaken;
        },
        async taken(signal) {
          while (!isTaken) {
            await sleep(queuePollMs, { signal }).catch(() => signal.throwIfAborted());
            await look(brief);
          }
          signal.throwIfAborted();
        },
        async answer(signal) {
          while (isTaken && answer === undefined && !signal.aborted) {
            await sleep(pollMs, { signal }).catch(() => {});
            if (!signal.aborted) {
              await look(patient);
            }
          }
          return answer;
        },
        async claim() {
          const id = randomUUID();
          const setting = redis.boundedCall("SET", [keys[0]], [id, "NX", "PX", leaseMs]);
          const [holder, reply] = await Promise.all([brief(keys[0]), brief(keys[1]), setting]);
          note([holder === id ? null : holder, reply]);
          if (holder === id && isTaken) {
            // Another node has published its answer, and has ended its claim.
            renew(keys[0], id, 0);
          }
          if (isTaken) {
            return undefined;
          }
          // If Redis is unavailable or slow, this node searches. A claim that Redis has stored after all will expire.
          return holder === id ? held(keys, id) : { publish() {}, [Symbol.dispose]() {} };
        },
      };
      await look(brief);
      return watched;
    },
  };
}
