import { expect, test } from "vitest";
import { expectUnharmed, quantileOf, watchHealth } from "./health-watch.ts";
import { askFromCache, connections, type Flood, floodWithRefusals, refused, turnedAway } from "./refusals.ts";
import { type StartedService, useService } from "./started-service.ts";

/** The duration of a flood in milliseconds, long enough for two hundred probes, most of them after the error quota is used up. */
const floodMs = 3000;

/**
 * The network of the next flood. Every flood uses new addresses, even in a second run, because the addresses of the first run
 * have used up their error quota.
 */
let network = 0;

/**
 * Floods the service while other callers send requests, and returns the answers to the flood. Fails if the other callers are not
 * answered in the promised time.
 */
async function flooded(service: StartedService, flood: Flood) {
  network++;
  await askFromCache(service, 100 + network, 200);
  const startedAt = performance.now();
  const stopFlood = await floodWithRefusals(service.url, flood, `127.0.200.${network}`);
  const stopWatch = await watchHealth(service);
  const bystanders = await askFromCache(service, network, floodMs);
  const health = await stopWatch();
  const { statuses, toldToWait, retryAfterS } = await stopFlood();
  const tookMs = performance.now() - startedAt;

  expectUnharmed(health);
  expect(health.p99Ms).toBeLessThan(50);
  expect(bystanders.failed).toBe(0);
  expect(quantileOf(bystanders.tookMs, 0.99)).toBeLessThan(50);
  expect(quantileOf(bystanders.tookMs, 1)).toBeLessThan(100);
  const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  return { statuses: [...statuses.keys()], toldToWait: toldToWait / answers, retryAfterS, answers, tookMs };
}

/** Defines tests of the service under floods of requests that it rejects, one flood after another. */
export function testRefusals(isTested: (flood: string) => boolean): void {
  const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_CACHE_MB: "16" });

  test.each(Object.entries(refused).filter(([name]) => isTested(name)))(
    "34: %s on twenty connections are soon refused unread, and delay no probe and no cached answer",
    async (_kind, flood) => {
      const { statuses, toldToWait, retryAfterS, answers, tookMs } = await flooded(service, flood);
      // Refused as wrong until the budget is spent, and unread from then on: most of them.
      expect(toldToWait).toBeGreaterThan(0.5);
      // Each of the connections waits a tenth of a second for an answer then, however fast it asks.
      expect(toldToWait * answers).toBeLessThan(connections * (tookMs / 100 + 2));
      expect(retryAfterS).toBeGreaterThan(0);
      expect(retryAfterS).toBeLessThanOrEqual(60);
      expect(statuses.filter((status) => ![200, 400, 402, 404, 413, 429, 503].includes(status))).toEqual([]);
    },
  );

  test.each(Object.entries(turnedAway).filter(([name]) => isTested(name)))(
    "34: %s on twenty connections are refused by their headers, and delay no probe and no cached answer",
    async (_kind, flood) => {
      const { statuses } = await flooded(service, flood);
      expect(statuses).toEqual(expect.arrayContaining([401, 403]));
      // 429 once the unknown keys have used up the error quota of their address.
      expect(statuses.filter((status) => !flood.statuses.includes(status))).toEqual([]);
    },
  );
}
