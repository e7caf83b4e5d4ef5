import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { patienceMs } from "../../support/patience.ts";
import { type Served, serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

async function evaluate(url: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ fen: "startpos", depth: 2 }),
  });
  return status;
}

async function openReceiver() {
  const received: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[] =
    [];
  const server = createServer(async (req, res) => {
    received.push({ path: req.url ?? "", headers: req.headers, body: await buffer(req) });
    res.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Starts a server, sends one request, and returns the OpenTelemetry packages that the server loaded. */
async function loadedPackages(name: string, env: Readonly<Record<string, string>>) {
  const file = join(folder, name);
  const listing = fileURLToPath(new URL("../../support/list-modules.ts", import.meta.url));
  const server = await serve({ ...env, LIST_MODULES: file, NODE_OPTIONS: `--import=${listing}` });
  expect(await evaluate(server.url)).toBe(200);
  await server.stop();
  expect(existsSync(file)).toBe(true);
  const modules = readFileSync(file, "utf8");
  expect(modules).toContain("/src/wiring/app.ts");
  return new Set([...modules.matchAll(/@opentelemetry\/[a-z-]+/g)].map(([found]) => found));
}

describe("loaded OpenTelemetry packages", () => {
  test("a server without a configured trace collector loads the OpenTelemetry API, but not the SDK", async () => {
    expect(await loadedPackages("off", { OTEL_SERVICE_NAME: "kibitz" })).toEqual(
      new Set(["@opentelemetry/api"]),
    );
  });

  test("a server with a configured trace collector loads the OpenTelemetry SDK", async () => {
    const { url } = await openReceiver();
    expect(await loadedPackages("on", { OTEL_EXPORTER_OTLP_ENDPOINT: url })).toContain(
      "@opentelemetry/sdk-trace",
    );
  });
});

describe("a server with a trace collector", () => {
  test("a server sends its spans to the collector that the OTEL_* variables name before the server stops", async () => {
    const { received, url } = await openReceiver();
    const server = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=chess",
      OTEL_SERVICE_NAME: "analysis-of-the-club",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=cellar",
    });
    expect(await evaluate(server.url)).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(received.map(({ path, headers }) => [path, headers["content-type"], headers["x-tenant"]])).toEqual(
      [["/v1/traces", "application/x-protobuf", "chess"]],
    );
    const text = received[0]?.body.toString("latin1");
    for (const word of ["analysis-of-the-club", "cellar", "POST /v1/eval", "engine search"]) {
      expect(text).toContain(word);
    }
  });

  const complaintsOf = ({ logged }: Pick<Served, "logged">) =>
    logged.filter(({ msg }) => msg.startsWith("degraded: traces cannot be sent"));

  async function silentCollector(): Promise<number> {
    const sockets = new Set<{ destroy(): void }>();
    const silent = createTcpServer((socket) => void sockets.add(socket.on("error", () => {})));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => {
      for (const socket of sockets) {
        socket.destroy();
      }
      silent.close();
    });
    return (silent.address() as AddressInfo).port;
  }

  test("a server answers requests while its trace collector accepts connections but never responds", async () => {
    const { url, ...server } = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await silentCollector()}`,
      // If an answer waited for the collector, this test would time out.
      OTEL_EXPORTER_OTLP_TIMEOUT: "3600000",
      OTEL_BSP_SCHEDULE_DELAY: "10",
    });
    for (let times = 0; times < 20; times++) {
      expect(await evaluate(url)).toBe(200);
    }
    expect(complaintsOf(server)).toEqual([]);
  });

  test.each([
    ["there is no collector", freePort],
    ["its collector never answers", silentCollector],
  ])("if %s, the server logs this once, keeps answering requests, and can be stopped", async (_, portOf) => {
    const server = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await portOf()}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: "300",
      OTEL_BSP_SCHEDULE_DELAY: "10",
    });
    expect(await evaluate(server.url)).toBe(200);
    await expect.poll(() => complaintsOf(server), { timeout: patienceMs }).toHaveLength(1);
    expect(await evaluate(server.url)).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(complaintsOf(server)).toHaveLength(1);
  });
});
