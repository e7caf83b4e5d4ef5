import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { open, problemOf } from "../support/raw-http.ts";
import { useApp } from "../support/running-app.ts";

const useService = (env: Readonly<Record<string, string>>) =>
  useApp(env, { engines: createEnginesInProcess() });

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

/** Returns functions that connect to a service from a given loopback address. */
function callersOf(app: { readonly url: string }) {
  const port = () => Number(new URL(app.url).port);
  const enter = async (from: string, bytes: string) => {
    const client = await open(port(), from);
    onTestFinished(() => void client.socket.destroy());
    client.socket.write(bytes);
    return client;
  };
  const enterHttp2 = (from: string) => {
    const client = connectHttp2(app.url, {
      createConnection: () => connect({ port: port(), host: "127.0.0.1", localAddress: from }),
    });
    client.on("error", () => {});
    onTestFinished(() => client.destroy());
    return client;
  };
  return {
    enter,
    enterHttp2,
    async openHealthWatch(from: string) {
      const client = enterHttp2(from);
      const call = health(client, "Watch");
      await once(call, "data");
      return client;
    },
    async ask(from: string, path: string) {
      const { closed } = await enter(from, get(path, "Connection: close\r\n"));
      return closed;
    },
  };
}

function health(
  client: ClientHttp2Session,
  method: "Check" | "Watch",
  headers: OutgoingHttpHeaders = {},
): ClientHttp2Stream {
  const call = client.request({
    ...headers,
    ":method": "POST",
    ":path": `/grpc.health.v1.Health/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
  });
  call.on("error", () => {}).end(Buffer.alloc(5));
  return call;
}

/** Begins a call whose body never ends. */
function halfCall(client: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  const start = { ":method": "POST", ":path": "/v1/eval", "content-type": "application/json" };
  return client
    .request({ ...headers, ...start })
    .on("error", () => {})
    .resume();
}

describe("the limit of connections for an address", () => {
  const app = useService({
    KIBITZ_ACCESS: "public",
    KIBITZ_CONNECTIONS_PER_ADDRESS: "2",
    KIBITZ_TRUST_PROXY: "127.0.0.9",
  });
  const { openHealthWatch, ask } = callersOf(app);

  test("a trusted proxy may open more connections than the limit for one address", async () => {
    const watching = [
      await openHealthWatch("127.0.0.9"),
      await openHealthWatch("127.0.0.9"),
      await openHealthWatch("127.0.0.9"),
    ];
    expect(await ask("127.0.0.9", "/price")).toContain("200 OK");
    expect(watching.every(({ closed }) => !closed)).toBe(true);
  });
});

describe("the limit of concurrent calls for a caller", () => {
  const app = useService({
    KIBITZ_ACCESS: "public",
    KIBITZ_CONNECTIONS_PER_ADDRESS: "1",
    KIBITZ_TRUST_PROXY: "127.0.0.9",
  });
  const { enter, enterHttp2 } = callersOf(app);

  test("a caller with too many concurrent calls is refused, but the caller's health probes and other callers of the same proxy are answered", async () => {
    const from = (address: string) => ({ "x-forwarded-for": address });
    const proxy = enterHttp2("127.0.0.9");
    // The largest plan allows four concurrent calls.
    const underWay = Array.from({ length: 4 }, () => halfCall(proxy, from("2001:db8::1")));
    const ask = async (path: string, more: string) =>
      (await enter("127.0.0.9", get(path, `${more}Connection: close\r\n`))).closed;
    const isRefused = async () =>
      (await ask("/price", "X-Forwarded-For: 2001:db8::2\r\n")).includes("HTTP/1.1 429");
    await expect.poll(isRefused).toBe(true);
    const refused = problemOf(await ask("/price", "X-Forwarded-For: 2001:db8::2\r\n"));
    expect(refused).toMatchObject({ status: 429, code: "concurrency_limited" });
    expect(refused.head).toMatch(/^Retry-After: \d+\r$/m);
    const stream = halfCall(enterHttp2("127.0.0.9"), from("2001:db8::1"));
    await expect.poll(() => [stream.closed, stream.rstCode]).toEqual([true, 7]);
    for (const method of ["Check", "Watch"] as const) {
      await once(health(proxy, method, from("2001:db8::1")), "data");
    }
    for (const path of ["/healthz", "/readyz"]) {
      expect(await ask(path, "X-Forwarded-For: 2001:db8::1\r\n")).toContain("200 OK");
    }
    expect(await ask("/price", "X-Forwarded-For: 2001:db8:1::1\r\n")).toContain("200 OK");
    expect(await ask("/price", "")).toContain("200 OK");
    underWay[0]?.close();
    await expect.poll(() => ask("/price", "X-Forwarded-For: 2001:db8::1\r\n")).toContain("200 OK");
  });
});

describe.each([
  ["in open mode", { KIBITZ_ACCESS: "open", KIBITZ_CONNECTIONS_PER_ADDRESS: "2" }],
  ["with 0", { KIBITZ_ACCESS: "public", KIBITZ_CONNECTIONS_PER_ADDRESS: "0" }],
])("%s", (_, env) => {
  const { openHealthWatch, ask } = callersOf(useService(env));

  test("connections are not limited in open mode, or if the limit is set to 0", async () => {
    const watching = [
      await openHealthWatch("127.0.0.2"),
      await openHealthWatch("127.0.0.2"),
      await openHealthWatch("127.0.0.2"),
    ];
    expect(await ask("127.0.0.2", "/price")).toContain("200 OK");
    expect(watching.every(({ closed }) => !closed)).toBe(true);
  });
});

describe("health watches", () => {
  const app = useService({ KIBITZ_ACCESS: "public", KIBITZ_TRUST_PROXY: "127.0.0.9" });
  const { enterHttp2 } = callersOf(app);

  test("an address may have 100 open health watches; another watch is refused, but the health call Check is still answered", async () => {
    const from = (address: string) => ({ "x-forwarded-for": address });
    const proxy = enterHttp2("127.0.0.9");
    const watching = Array.from({ length: 100 }, () => health(proxy, "Watch", from("192.0.2.1")));
    await Promise.all(watching.map((call) => once(call, "data")));
    const other = enterHttp2("127.0.0.9");
    const refused = health(other, "Watch", from("192.0.2.1")).resume();
    const [trailers] = await once(refused, "trailers");
    expect(trailers).toMatchObject({ "grpc-status": "14" });
    const details = Buffer.from(String(trailers["grpc-status-details-bin"]), "base64").toString("latin1");
    expect(details).toContain("google.rpc.RetryInfo");
    expect(details).toContain("OVERLOADED");
    await once(health(other, "Watch", from("192.0.2.2")), "data");
    await once(health(other, "Check", from("192.0.2.1")), "data");
    expect(watching.every(({ closed }) => !closed)).toBe(true);
  });
});
