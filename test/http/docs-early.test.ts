import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import type { Engines } from "../../src/engine/engines.ts";
import { silentLog } from "../../src/log/log.ts";
import { startApp } from "../../src/wiring/app.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { patienceMs } from "../support/patience.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const dataDir = useTemporaryFolder();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("the OpenAPI document and the page /docs are available while engines start", async () => {
  const port = await freePort();
  const config = loadConfig({ KIBITZ_PORT: String(port), KIBITZ_DATA_DIR: dataDir });
  const opening = Promise.withResolvers<Engines>();
  const started = startApp(config, silentLog, opening.promise);
  const base = `http://127.0.0.1:${port}`;
  const statusOf = async (path: string) => (await fetch(base + path)).status;
  await vi.waitFor(async () => expect(await statusOf("/openapi.json")).toBe(200), patienceMs);
  expect(await statusOf("/docs")).toBe(200);
  expect(await statusOf("/docs/swagger-ui.css")).toBe(200);
  expect(await statusOf("/engines")).toBe(503);
  opening.reject(new Error("no engine"));
  await expect(started).rejects.toThrow("no engine");
});
