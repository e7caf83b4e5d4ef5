import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { afterAll, expect, onTestFinished, test } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { silentLog } from "../../../src/log/log.ts";
import { type App, startApp } from "../../../src/wiring/app.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { openEngines } from "../../../src/wiring/engines.ts";
import { freePort } from "../../support/free-port.ts";
import { open } from "../../support/raw-http.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const dataDir = useTemporaryFolder();
/** The test must know the port before the server is ready, so the test chooses the port. */
const port = await freePort();

let app: App | undefined;
afterAll(() => app?.stop());

test("health and reflection work while the server starts and stops, and their open streams do not delay the stop", async () => {
  const config = loadConfig({
    KIBITZ_PORT: String(port),
    KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
    KIBITZ_NATIVE_ENGINES: "none",
    KIBITZ_ACCESS: "keys",
    KIBITZ_DATA_DIR: dataDir,
  });
  const mayStart = Promise.withResolvers<void>();
  const engines = mayStart.promise.then(() => openEngines(config, silentLog, new AbortController().signal));
  // Watch streams stay open for ten minutes. The stop must not wait for them.
  const starting = startApp(config, silentLog, engines, { drainMs: 600_000 });
  const baseUrl = `http://127.0.0.1:${port}`;
  const check = (init = {}) =>
    fetch(`${baseUrl}/grpc.health.v1.Health/Check`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
      ...init,
    }).then((answer) => answer.json());
  await expect.poll(() => check().catch(() => undefined)).toEqual({ status: "NOT_SERVING" });
  expect((await fetch(`${baseUrl}/readyz`)).status).toBe(503);

  const sessionManager = new Http2SessionManager(baseUrl);
  onTestFinished(() => sessionManager.abort());
  const transport = createGrpcTransport({ baseUrl, sessionManager });
  const health = createClient(Health, transport);
  const reflection = createClient(ServerReflection, transport);
  const watch = health.watch({ service: "chess.analysis.v1.AnalysisService" })[Symbol.asyncIterator]();
  const unknown = health.watch({ service: "nope" })[Symbol.asyncIterator]();
  expect((await watch.next()).value).toMatchObject({ status: Status.NOT_SERVING });
  expect((await unknown.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
  const talk = reflection.serverReflectionInfo(talkForever())[Symbol.asyncIterator]();
  expect((await talk.next()).value).toMatchObject({ messageResponse: { case: "listServicesResponse" } });
  // While the server starts, even unknown calls are rejected as starting.
  expect((await fetch(`${baseUrl}/grpc.health.v1.Health/Check`)).status).toBe(405);
  expect(await (await fetch(`${baseUrl}/engines`)).json()).toMatchObject({ code: "starting" });

  mayStart.resolve();
  expect((await watch.next()).value).toMatchObject({ status: Status.SERVING });
  app = await starting;
  expect(await check()).toEqual({ status: "SERVING" });
  expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200);

  // The connection has sent only a part of its request when the stop begins.
  const body = '{"service": ""}';
  const { socket, closed } = await open(port);
  socket.write(
    `POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  const stopped = app.stop();
  socket.write(body);
  expect((await watch.next()).value).toMatchObject({ status: Status.NOT_SERVING });
  expect(await watch.next()).toMatchObject({ done: true });
  expect(await unknown.next()).toMatchObject({ done: true });
  expect(await talk.next()).toMatchObject({ done: true });
  expect(await closed).toMatch(/200 OK[\s\S]*{"status":"NOT_SERVING"}/);
  await stopped;
});

/** Sends one reflection request, and then keeps the stream open. */
async function* talkForever() {
  yield { messageRequest: { case: "listServices", value: "" } } as const;
  await new Promise(() => {});
}
