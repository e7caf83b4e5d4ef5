import { expect, test } from "vitest";
import { expectUnharmed, quantileOf, watchHealth } from "./health-watch.ts";
import { askFromCache, connections, type Flood, floodWithRefusals, refused, turnedAway } from "./refusals.ts";
import { type StartedService, useService } from "./started-service.ts";

/**
 * In three seconds, at least 200 health probes are sent. Most of these probes are sent after the flood has used up its error
 * quota.
 */
const floodMs = 3000;

/** Each flood uses new addresses, because the error quota of the earlier addresses is used up. */
let network = 0;

/** Floods the service while other callers send requests. Fails if the other callers wait too long. */
async function flooded(service: StartedService, flood: Flood) {
  network++;
  await askFromCache(service, 100 + network, 200);
  const startedAt = performance.now();
  const stopFlood = await floodWithRefusals(service.url, flood, `127.0.200.${network}`);
  const stopWatch = await watchHealth(service);
  const bystanders = await askFromCache(service, network, floodMs);
  const health = await stopWatch();
  const { statuses, withRetryAfter, retryAfterS } = await stopFlood();
  const tookMs = performance.now() - startedAt;

  expectUnharmed(health);
  expect(health.p99Ms).toBeLessThan(50);
  expect(bystanders.failed).toBe(0);
  expect(quantileOf(bystanders.tookMs, 0.99)).toBeLessThan(50);
  expect(quantileOf(bystanders.tookMs, 1)).toBeLessThan(100);
  const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  return {
    statuses: [...statuses.keys()],
    shareWithRetryAfter: withRetryAfter / answers,
    retryAfterS,
    answers,
    tookMs,
  };
}

export function testRefusals(isTested: (flood: string) => boolean): void {
  const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_CACHE_MB: "16" });

  test.each(Object.entries(refused).filter(([name]) => isTested(name)))(
    "%s on twenty connections are soon refused without being read, and delay neither probes nor cached responses",
    async (_kind, flood) => {
      const { statuses, shareWithRetryAfter, retryAfterS, answers, tookMs } = await flooded(service, flood);
      // Most requests arrive after the error quota is used up. The service refuses them with Retry-After, without reading them.
      expect(shareWithRetryAfter).toBeGreaterThan(0.5);
      // After that, the service delays each response by a tenth of a second.
      expect(shareWithRetryAfter * answers).toBeLessThan(connections * (tookMs / 100 + 2));
      expect(retryAfterS).toBeGreaterThan(0);
      expect(retryAfterS).toBeLessThanOrEqual(60);
      expect(statuses.filter((status) => ![200, 400, 402, 404, 413, 429, 503].includes(status))).toEqual([]);
    },
  );

  test.each(Object.entries(turnedAway).filter(([name]) => isTested(name)))(
    "%s on twenty connections are refused because of their headers, and delay neither probes nor cached responses",
    async (_kind, flood) => {
      const { statuses } = await flooded(service, flood);
      expect(statuses).toEqual(expect.arrayContaining([401, 403]));
      // The unknown keys use up the error quota of their address. Then the status is 429.
      expect(statuses.filter((status) => !flood.statuses.includes(status))).toEqual([]);
    },
  );
}
