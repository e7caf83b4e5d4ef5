import type { Clock } from "./clock.ts";
import type { SimulatedNode } from "./node.ts";
import type { createSimulatedRedis } from "./redis.ts";
import type { Scenario } from "./scenario.ts";
import { createTooLong } from "./too-long.ts";

/** The milliseconds of the lease of a claim, and until the claim is released. */
const claimMs = 2500;

interface ClaimInvariantsOptions {
  readonly clock: Clock;
  readonly scenario: Scenario;
  readonly redis: ReturnType<typeof createSimulatedRedis>;
  nodeOf(number: number): SimulatedNode | undefined;
  violation(text: string): void;
}

/**
 * A node claims a search only while it has a slot for the search, because other nodes wait for a claimed search. This rule
 * holds while the shared store answers and no node is paused.
 */
export function createClaimInvariants({ clock, scenario, redis, nodeOf, violation }: ClaimInvariantsOptions) {
  const { nodes, redisFaults, acts } = scenario;
  const isChecked =
    nodes.length > 1 && redisFaults.length === 0 && acts.every(({ kind }) => kind !== "pause");
  const isTooLong = createTooLong<string>(clock.now);

  return {
    sample(): void {
      if (!isChecked) {
        return;
      }
      const running = nodes.reduce((sum, _, index) => sum + (nodeOf(index + 1)?.status().running ?? 0), 0);
      const claims = redis.look("KEYS", "*claim:*") as readonly string[];
      if (isTooLong("claims", claims.length > running, claimMs)) {
        violation(`${claims.length} searches are claimed, but only ${running} run`);
      }
    },
  };
}
