import { expect, test } from "vitest";
import { expectOthersAnswered, floodWithConnections } from "./connection-flood.ts";
import { descriptorsOf } from "./processes-of.ts";
import { rawRequest } from "./raw-http.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public" });

test("33: 10,500 connections of a thousand addresses, which hold all there are, take nobody else's place", async () => {
  // A request each: what has never sent one is closed sooner than a busy machine fills the service.
  const addressOf = (count: number) => `127.2.${Math.floor(count / 250) % 4}.${count % 250}`;
  const flooding = floodWithConnections(service, 10_500, addressOf, rawRequest("GET /healthz"));
  await expectOthersAnswered(service, flooding, { peakBytes: 400e6 });
  const open = descriptorsOf(service.pid).length;
  expect(open).toBeGreaterThan(9800);
  expect(open).toBeLessThan(11_100);
  (await flooding)[1]();
  await expect.poll(() => descriptorsOf(service.pid).length).toBeLessThan(200);
});
