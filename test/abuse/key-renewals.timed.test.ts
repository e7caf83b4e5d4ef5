import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ask } from "./ask.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_KEYS_PER_DAY: "5" });

const renewalsMax = 20;
const callsOfAddress = 300;
const connections = 10;

async function renewKey(localAddress: string): Promise<readonly number[]> {
  const body = JSON.stringify({ idempotency_key: randomUUID() });
  const headers = { "content-type": "application/json" };
  const send = () => ask(`${service.url}/v1/keys`, { method: "POST", headers, body, localAddress });
  const statuses: number[] = [];
  const one = async () => {
    while (statuses.length < callsOfAddress) {
      statuses.push((await send()).status);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return statuses;
}

test("46: five addresses that renew their keys without a pause delay no health probe, and are refused after 20 renewals", async () => {
  const stop = await watchHealth(service, 60);
  const callers = await Promise.all([1, 2, 3, 4, 5].map((host) => renewKey(`127.0.43.${host}`)));
  const health = await stop();
  expect(health.p95Ms, JSON.stringify(health)).toBeLessThanOrEqual(100);
  expectUnharmed(health, { worstMs: 1000 });
  for (const statuses of callers) {
    expect(statuses.filter((status) => status === 200)).toHaveLength(1 + renewalsMax);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  }
});
