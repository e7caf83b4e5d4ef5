import type { Access } from "../../src/access/access.ts";
import type { Clock } from "./clock.ts";
import type { SimulatedNode } from "./node.ts";
import type { createSimulatedRedis } from "./redis.ts";
import type { Scenario } from "./scenario.ts";

/** Times are in milliseconds. */
const bounds = {
  /** A request that has waited this much longer goes first. */
  ahead: 1000,
  /** So many later requests of the same caller may start before a waiting request. */
  overtaken: 3,
  /** The lease of a claim, and the time until the claim is released. */
  claim: 2500,
} as const;

interface OrderInvariantsOptions {
  readonly clock: Clock;
  readonly scenario: Scenario;
  readonly redis: ReturnType<typeof createSimulatedRedis>;
  nodeOf(number: number): SimulatedNode | undefined;
  violation(text: string): void;
}

interface WaitingRequest {
  readonly subject: string;
  readonly beganAt: number;
  readonly number: number;
  readonly access: Access;
  overtaken: number;
}

/**
 * Nobody waits for work that could wait for him. These rules hold while the shared store answers and no node is paused:
 * - The waiting requests of a caller start in their order.
 * - A node claims a search only while it has a slot for the search, because other nodes wait for a claimed search.
 */
export function createOrderInvariants({ clock, scenario, redis, nodeOf, violation }: OrderInvariantsOptions) {
  const { nodes: plans, redisFaults, acts } = scenario;
  const isReliable =
    plans.length === 1 || (redisFaults.length === 0 && acts.every(({ kind }) => kind !== "pause"));
  const waiting = new Set<WaitingRequest>();
  let tooManySince: number | undefined;

  function admitted(subject: string, beganAt: number): void {
    for (const other of waiting) {
      if (nodeOf(other.number)?.access !== other.access) {
        // The process has been killed.
        waiting.delete(other);
      } else if (other.subject === subject && other.beganAt + bounds.ahead < beganAt) {
        other.overtaken++;
        if (other.overtaken === bounds.overtaken + 1) {
          const ms = Math.round(clock.now() - other.beganAt);
          violation(
            `node ${other.number}: later requests of ${subject} start before a request that waits since ${ms} ms`,
          );
        }
      }
    }
  }

  return {
    opened(number: number, access: Access): void {
      const { limits } = access;
      const { enter } = limits;
      limits.enter = async (account, time, options = {}) => {
        const { subject, plan } = account;
        const beganAt = clock.now();
        const request = { subject, beganAt, number, access, overtaken: 0 };
        if (options.waiting && isReliable) {
          waiting.add(request);
        }
        try {
          return await enter(account, time, {
            ...options,
            onEntered(entered) {
              waiting.delete(request);
              if (plan.limits.concurrent !== undefined) {
                admitted(subject, beganAt);
              }
              options.onEntered?.(entered);
            },
          });
        } finally {
          waiting.delete(request);
        }
      };
    },
    sample(): void {
      if (plans.length === 1 || !isReliable) {
        return;
      }
      const running = plans.reduce((sum, _, index) => sum + (nodeOf(index + 1)?.status().running ?? 0), 0);
      const claims = redis.look("KEYS", "*claim:*") as readonly string[];
      if (claims.length <= running) {
        tooManySince = undefined;
        return;
      }
      tooManySince ??= clock.now();
      if (clock.now() - tooManySince > bounds.claim) {
        tooManySince = Number.POSITIVE_INFINITY;
        violation(`${claims.length} searches are claimed, but only ${running} run`);
      }
    },
  };
}
