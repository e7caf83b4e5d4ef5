import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { patienceMs } from "../../support/patience.ts";
import { serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** Asked again, as it says, where the server has no time to read it: the machine may be busy with others. */
async function evaluate(url: string): Promise<number> {
  for (const endsAt = performance.now() + patienceMs; ; ) {
    const answer = await fetch(`${url}/v1/eval`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ fen: "startpos", depth: 2 }),
    });
    if (answer.status !== 503 || performance.now() > endsAt) {
      return answer.status;
    }
    await sleep(1000);
  }
}

/** Takes what exporters send. */
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

/** Packages of OpenTelemetry that a server has read when it has answered a call. */
async function packagesRead(name: string, env: Readonly<Record<string, string>>) {
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

describe("the packages of OpenTelemetry", () => {
  test("are not read where nobody asks for traces", async () => {
    expect(await packagesRead("off", { OTEL_SERVICE_NAME: "kibitz" })).toEqual(new Set());
  });

  test("are read where somebody does", async () => {
    const { url } = await openReceiver();
    expect(await packagesRead("on", { OTEL_EXPORTER_OTLP_ENDPOINT: url })).toContain(
      "@opentelemetry/sdk-trace",
    );
  });
});

describe("a server that is told of a collector", () => {
  test("sends it what it has done before it stops, as the standard variables say", async () => {
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

  test.each(["that is not there", "that takes everything and answers nothing"])(
    "%s answers as ever, says so once, and stops in time",
    async (which) => {
      const sockets = new Set<{ destroy(): void }>();
      const silent = createTcpServer((socket) => {
        sockets.add(socket.on("error", () => {}));
      }).listen(0, "127.0.0.1");
      await once(silent, "listening");
      const { port } = silent.address() as AddressInfo;
      onTestFinished(() => {
        for (const socket of sockets) {
          socket.destroy();
        }
        silent.close();
      });
      if (which.includes("not there")) {
        silent.close();
      }
      const server = await serve({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_BSP_SCHEDULE_DELAY: "10",
      });
      const tookMs: number[] = [];
      for (let times = 0; times < 20; times++) {
        const before = performance.now();
        expect(await evaluate(server.url)).toBe(200);
        tookMs.push(performance.now() - before);
      }
      // The quickest of the second half: were the collector waited for, they all would be, and for seconds.
      expect(Math.min(...tookMs.slice(10))).toBeLessThan(250);
      const complaints = () =>
        server.logged.filter(({ msg }) => msg.startsWith("degraded: traces cannot be sent"));
      await expect.poll(complaints, { timeout: patienceMs }).toHaveLength(1);
      await evaluate(server.url);
      const stopping = performance.now();
      expect(await server.stop()).toBe(0);
      expect(performance.now() - stopping).toBeLessThan(8000);
      expect(complaints()).toHaveLength(1);
    },
  );
});
