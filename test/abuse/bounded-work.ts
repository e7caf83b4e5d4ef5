import { describe, expect, test } from "vitest";
import type { Attack } from "./attacks.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

/**
 * The bounds of time and memory under attack, by access mode. One caller may send as fast as it can on 200 connections: the
 * contract excludes such floods from its 100 ms. In `open` mode nothing limits a caller, and the heap keeps the memory of earlier
 * attacks for a while: up to 487 MB were measured with the limits of `npm start`.
 */
const bounds = {
  public: { worstMs: 1000, peakBytes: 300e6 },
  open: { worstMs: 2500, peakBytes: 600e6 },
} as const;

/** The least number of probes of one attack. The slowest three of them may take longer than 250 ms. */
const probesMin = 60;

/** The most memory that one attack may add. Unbounded work would take gigabytes. */
const grownMaxBytes = 200e6;

/** Defines tests that attack a service in this access mode, one attack after another. */
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
