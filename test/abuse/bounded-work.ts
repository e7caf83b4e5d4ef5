import { describe, expect, test } from "vitest";
import type { Attack } from "./attacks.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

/**
 * One caller may send as fast as it can on 200 connections: the contract leaves such floods out of its 100 ms. In `open` mode nothing limits
 * a caller, and V8 keeps for a while what one attack after another took: up to 487 MB were seen, with the limits of `npm start`.
 */
const bounds = {
  public: { worstMs: 1000, peakBytes: 300e6 },
  open: { worstMs: 2500, peakBytes: 600e6 },
} as const;

/** The slowest three of these may take longer than 250 ms. */
const probesMin = 60;

/** One attack may take so much. Work without its bound takes gigabytes. */
const grownMaxBytes = 200e6;

/** Makes attacks on a service in this mode, one after another. */
export function testAttacks(access: "public" | "open", attacks: readonly Attack[]): void {
  describe(`35: work is bounded before it is done, in ${access} mode`, () => {
    const service = useService({ KIBITZ_ACCESS: access });

    test.each(attacks.map((attack, index) => [attack.name, attack, `127.0.9.${index + 1}`] as const))(
      `${access} mode: %s take little memory, and delay no probe`,
      async (_, attack, address) => {
        const stop = await watchHealth(service, probesMin);
        await attack.send(service, address);
        const health = await stop();
        expectUnharmed(health, bounds[access]);
        expect(health.p95Ms, JSON.stringify(health)).toBeLessThan(250);
        expect(health.grownBytes, JSON.stringify(health)).toBeLessThan(grownMaxBytes);
      },
    );
  });
}
