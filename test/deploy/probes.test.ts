import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const textOf = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

/** Starts an HTTP server that responds with the given status and records the requested paths. */
async function startPort(status: number) {
  const asked: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    asked.push(req.url);
    res.writeHead(status).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { asked, port: String((server.address() as AddressInfo).port) };
}

/** Runs the health check of the container image. Returns the exit code. */
async function checkHealth(env: Readonly<Record<string, string>>): Promise<number> {
  const [, command = "[]"] = /^HEALTHCHECK .*\\\n +CMD (\[.*\])$/m.exec(textOf("Dockerfile")) ?? [];
  const [program, ...args]: readonly string[] = JSON.parse(command);
  expect(program).toBe("node");
  return promisify(execFile)(process.execPath, args, { env }).then(
    () => 0,
    ({ code }) => code,
  );
}

test("the health check of the image requests /healthz at the metrics port if KIBITZ_METRICS_PORT is set", async () => {
  const [service, metrics] = [await startPort(500), await startPort(200)];
  expect(await checkHealth({ KIBITZ_PORT: service.port, KIBITZ_METRICS_PORT: metrics.port })).toBe(0);
  expect([service.asked, metrics.asked]).toEqual([[], ["/healthz"]]);
});

test.each([undefined, "", "0"])(
  "the health check of the image requests /healthz at the service port if KIBITZ_METRICS_PORT is %j",
  async (metricsPort) => {
    const service = await startPort(200);
    const metrics = metricsPort === undefined ? {} : { KIBITZ_METRICS_PORT: metricsPort };
    expect(await checkHealth({ KIBITZ_PORT: service.port, ...metrics })).toBe(0);
    expect(service.asked).toEqual(["/healthz"]);
  },
);

test("the health check of the image fails if the response is an error or does not arrive", async () => {
  const metrics = await startPort(503);
  expect(await checkHealth({ KIBITZ_METRICS_PORT: metrics.port })).toBe(1);
  expect(await checkHealth({ KIBITZ_METRICS_PORT: "1" })).toBe(1);
});

test("the compose file and the Helm chart set the metrics port, and the probes of the chart use the metrics port", () => {
  expect(textOf("compose.yaml")).toMatch(/^ {4}KIBITZ_METRICS_PORT: 9464$/m);
  const nodes = textOf("helm/kibitz/templates/nodes.yaml");
  expect(nodes).toContain('{ name: KIBITZ_METRICS_PORT, value: "9464" }');
  expect(nodes).toContain("{ name: metrics, containerPort: 9464 }");
  const probes = [...nodes.matchAll(/(\w+)Probe:\n +httpGet: (.*)/g)].map(([, name, get]) => [name, get]);
  expect(probes).toEqual([
    ["startup", "{ path: /readyz, port: metrics }"],
    ["readiness", "{ path: /readyz, port: metrics }"],
    ["liveness", "{ path: /healthz, port: metrics }"],
  ]);
});
