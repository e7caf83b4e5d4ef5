import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { rawRequest } from "../support/raw-http.ts";
import { ask } from "./ask.ts";
import { floodWithConnections } from "./connection-flood.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { descriptorsOf } from "./processes-of.ts";
import { expectEvaluation, useService } from "./started-service.ts";

const metrics = `http://127.0.0.1:${await freePort()}`;
const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_METRICS_PORT: new URL(metrics).port });

test("the metrics port answers health probes during a flood of 10,500 connections, and the service answers requests after the flood", async () => {
  const stop = await watchHealth({ url: metrics, pid: service.pid });
  // Every connection sends a request, because the service soon closes a connection that has never sent a request.
  const addressOf = (count: number) => `127.2.${Math.floor(count / 250) % 4}.${count % 250}`;
  const [statuses, end] = await floodWithConnections(service, 10_500, addressOf, rawRequest("GET /healthz"));
  onTestFinished(end);
  expect(statuses.at(0)).toBe(200);
  expect(statuses.at(-1)).toBeUndefined();
  expect((await ask(`${metrics}/readyz`)).status).toBe(200);
  const open = descriptorsOf(service.pid).length;
  expect(open).toBeGreaterThan(9800);
  expect(open).toBeLessThan(10_200);
  expectUnharmed(await stop(), { peakBytes: 400e6 });
  end();
  await expect.poll(() => descriptorsOf(service.pid).length).toBeLessThan(200);
  await expectEvaluation(service.url);
});
