import { expect, test } from "vitest";
import { watchHealth } from "./health-watch.ts";
import { askFromCache, floodWithRefusals, refused } from "./refusals.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_CACHE_MB: "16" });

/** Long enough that the budget of refusals is soon spent, and a thousandth of the probes is still one. */
const floodMs = 8000;

test.each(Object.entries(refused).map(([name, flood], index) => [name, flood, index + 1] as const))(
  "34: %s on twenty connections cost their sender, and nobody else",
  async (_, flood, network) => {
    await askFromCache(service, 100 + network, 200);
    const stopFlood = await floodWithRefusals(service.url, flood, `127.0.200.${network}`);
    const stopWatch = await watchHealth(service);
    const bystanders = await askFromCache(service, network, floodMs);
    const health = await stopWatch();
    const { statuses, retryAfterS } = await stopFlood();

    expect(health.failed).toBe(0);
    expect(bystanders.failed).toBe(0);
    // Of the service's own time: the flood comes from the same two cores. `bench/refusals.ts` tells the time by the clock.
    expect(health.ownP99Ms).toBeLessThan(50);
    expect(p99Of(bystanders.ownMs)).toBeLessThan(50);
    // Refused as wrong until the budget is spent, and unread from then on: most of them.
    const refusedUnread = statuses.get(429) ?? 0;
    const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    expect(refusedUnread / all).toBeGreaterThan(0.5);
    expect(retryAfterS).toBeGreaterThan(0);
    expect(retryAfterS).toBeLessThanOrEqual(60);
    expect([...statuses.keys()].filter((status) => ![200, 400, 402, 413, 429].includes(status))).toEqual([]);
  },
);

function p99Of(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
