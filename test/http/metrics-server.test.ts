import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type EventEmitter, once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openMetricsServer } from "../../src/http/metrics-server.ts";
import { createProbes } from "../../src/http/pages/probes.ts";
import { startListener } from "./start-listener.ts";

const page = { print: async () => "kibitz_slots 2\n" };
const local = { host: "127.0.0.1", port: 0 };

test("the metrics port answers GET /metrics, and refuses other methods with 405 and other paths with 404", async () => {
  await using server = await openMetricsServer(page, local);
  const shown = await fetch(server.url);
  expect([shown.status, shown.headers.get("content-type"), await shown.text()]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
    "kibitz_slots 2\n",
  ]);
  const asked = await Promise.all([
    fetch(server.url, { method: "HEAD" }),
    fetch(`${server.url}?x=1`),
    fetch(server.url, { method: "POST", body: "x" }),
    fetch(new URL("/", server.url)),
  ]);
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 405, 404]);
});

test.each([
  [undefined, "text"],
  ["*/*", "text"],
  ["text/plain", "text"],
  ["text/html,*/*;q=0.1", "text"],
  ["application/openmetrics-text;q=0.1,text/plain;q=0.5", "text"],
  ["application/openmetrics-text", "openmetrics"],
  // The Accept headers of Prometheus 2 and 3.
  [
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "openmetrics",
  ],
  [
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
    "openmetrics",
  ],
])("GET /metrics with Accept: %s returns the format %s", async (accept, format) => {
  await using server = await openMetricsServer({ print: async (asked) => asked }, local);
  const answer = await get(server.url, accept === undefined ? {} : { accept });
  expect(await text(answer)).toBe(format);
  expect(answer.headers["content-type"]).toBe(
    format === "text"
      ? "text/plain; version=0.0.4; charset=utf-8"
      : "application/openmetrics-text; version=1.0.0; charset=utf-8",
  );
});

/** Sends a request without the headers that fetch adds. */
async function get(url: string, headers: OutgoingHttpHeaders): Promise<IncomingMessage> {
  const [answer] = await once(request(url, { headers, agent: false }).end(), "response");
  return answer;
}

test("every request gets the current metrics", async () => {
  let count = 0;
  await using server = await openMetricsServer({ ...page, print: async () => `${++count}` }, local);
  expect([await (await fetch(server.url)).text(), await (await fetch(server.url)).text()]).toEqual([
    "1",
    "2",
  ]);
});

test("opening the metrics port fails if the port is in use", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  await expect(openMetricsServer(page, { ...local, port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  other.close();
});

test("GET /metrics gets 500 while the metrics cannot be read, and 200 afterwards", async () => {
  let fails = true;
  const print = async () => {
    if (fails) {
      throw new Error("a reader failed");
    }
    return page.print();
  };
  await using server = await openMetricsServer({ ...page, print }, local);
  expect((await fetch(server.url)).status).toBe(500);
  fails = false;
  expect((await fetch(server.url)).status).toBe(200);
});

const probesOf = (ready: boolean, draining: boolean, degraded: readonly string[] = []) =>
  createProbes({ ready: () => ready, draining: () => draining, degraded: () => degraded });

test.each([
  ["starts", 503, probesOf(false, false)],
  ["is ready", 200, probesOf(true, false)],
  ["is degraded", 200, probesOf(true, false, ["store"])],
  ["stops", 503, probesOf(true, true)],
])(
  "while the service %s, /readyz gets %i and /healthz gets 200 on the metrics port, exactly as on the main port",
  async (_, readyz, probes) => {
    await using server = await openMetricsServer(page, local);
    server.serveProbes(probes);
    const { base } = await startListener([probes]);
    for (const [path, status] of [["/healthz", 200] as const, ["/readyz", readyz] as const]) {
      expect((await probe(server.url, path, "GET")).status).toBe(status);
      for (const method of ["GET", "HEAD", "POST"]) {
        expect(await probe(server.url, path, method)).toEqual(await probe(base, path, method));
      }
    }
  },
);

async function probe(origin: string, path: string, method: string) {
  const answer = await fetch(new URL(path, origin), { method, headers: { "X-Request-Id": "one" } });
  const names = ["content-type", "content-length", "cache-control", "retry-after", "allow", "x-request-id"];
  return {
    status: answer.status,
    headers: names.map((name) => answer.headers.get(name)),
    // Every problem has its own request id.
    body: (await answer.text()).replace(/urn:uuid:[\w-]+/, ""),
  };
}

test("the metrics port keeps working after a connection could not be accepted for lack of file descriptors", async () => {
  const listening: { current: EventEmitter | undefined } = { current: undefined };
  const remember = (message: unknown) => {
    listening.current = (message as { readonly server: EventEmitter }).server;
  };
  subscribe("tracing:net.server.listen:asyncEnd", remember);
  await using server = await openMetricsServer(page, local);
  unsubscribe("tracing:net.server.listen:asyncEnd", remember);
  // Node emits an error if it cannot accept a connection. Without a listener, the error would end the process.
  listening.current?.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }));
  expect(listening.current).toBeDefined();
  expect((await fetch(server.url)).status).toBe(200);
});
