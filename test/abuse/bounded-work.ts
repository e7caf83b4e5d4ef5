import { describe, expect, test } from "vitest";
import type { Attack } from "./attacks.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

/**
 * The service must not exceed these limits while one caller sends requests as fast as possible over 200 connections. In `open`
 * mode, the service has used up to 487 MB.
 */
const bounds = {
  public: { worstMs: 1000, peakBytes: 300e6 },
  open: { worstMs: 2500, peakBytes: 600e6 },
} as const;

/** The minimum number of health probes during an attack. */
const probesMin = 60;

/**
 * The maximum growth of the memory of the service during one attack. Without limits on requests, the memory would grow by
 * gigabytes.
 */
const grownMaxBytes = 200e6;

export function testAttacks(access: "public" | "open", attacks: readonly Attack[]): void {
  describe(`35: the work of attacks is bounded, in ${access} mode`, () => {
    const service = useService({ KIBITZ_ACCESS: access });

    test.each(attacks.map((attack, index) => [attack.name, attack, `127.0.9.${index + 1}`] as const))(
      `${access} mode: %s use little memory, and do not delay health probes`,
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
