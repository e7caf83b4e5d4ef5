import { expect, test } from "vitest";
import { watchHealth } from "./health-watch.ts";
import { askFromCache, type Flood, floodWithRefusals, refused, turnedAway } from "./refusals.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_CACHE_MB: "16" });

/** Long enough that the budget of refusals is soon spent, and a thousandth of the probes is still one. */
const floodMs = 8000;

const kinds = Object.keys({ ...refused, ...turnedAway });

/** Floods the service while others ask, and tells how it was answered. Nobody else is to notice. */
async function flooded(kind: string, flood: Flood) {
  const network = kinds.indexOf(kind) + 1;
  await askFromCache(service, 100 + network, 200);
  const stopFlood = await floodWithRefusals(service.url, flood, `127.0.200.${network}`);
  const stopWatch = await watchHealth(service);
  const bystanders = await askFromCache(service, network, floodMs);
  const health = await stopWatch();
  const { statuses, toldToWait, retryAfterS } = await stopFlood();

  expect(health.failed).toBe(0);
  expect(bystanders.failed).toBe(0);
  // Of the service's own time: the flood comes from the same two cores. `bench/refusals.ts` tells the time by the clock.
  expect(health.ownP99Ms).toBeLessThan(50);
  expect(p99Of(bystanders.ownMs)).toBeLessThan(50);
  const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  return { statuses: [...statuses.keys()], toldToWait: toldToWait / answers, retryAfterS };
}

test.each(Object.entries(refused))(
  "34: %s on twenty connections cost their sender, and nobody else",
  async (kind, flood) => {
    const { statuses, toldToWait, retryAfterS } = await flooded(kind, flood);
    // Refused as wrong until the budget is spent, and unread from then on: most of them.
    expect(toldToWait).toBeGreaterThan(0.5);
    expect(retryAfterS).toBeGreaterThan(0);
    expect(retryAfterS).toBeLessThanOrEqual(60);
    expect(statuses.filter((status) => ![200, 400, 402, 404, 413, 429].includes(status))).toEqual([]);
  },
);

test.each(Object.entries(turnedAway))(
  "34: %s on twenty connections are turned away, and nobody notices",
  async (kind, flood) => {
    const { statuses } = await flooded(kind, flood);
    expect(statuses.toSorted()).toEqual(flood.statuses);
  },
);

function p99Of(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
