import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { guardRequests } from "../../src/cli/guard-requests.ts";
import { runAs } from "../../src/request/owner.ts";
import { http2Get } from "../http/http2-get.ts";
import { exchange, open } from "../support/raw-http.ts";
import type { Report } from "./guard/throwing-service.ts";

let service: ChildProcess;
let port: number;
let metricsUrl: string;
let places: readonly string[] = [];

beforeAll(async () => {
  // Pass only the variables that Node needs, so that the service does not run as a test of vitest.
  service = fork(new URL("guard/throwing-service.ts", import.meta.url), { env: {}, execArgv: [] });
  [{ port, metricsUrl, places }] = (await once(service, "message")) as [
    { port: number; metricsUrl: string; places: readonly string[] },
  ];
});

afterAll(() => void service.kill());

beforeEach(async () => void (await report()));

async function report(): Promise<Report> {
  const answered = once(service, "message");
  service.send("report");
  return ((await answered) as [Report])[0];
}

/** Sends a request with a body, and resolves with what the client gets. The connection ends after the answer. */
async function overHttp1(place: string): Promise<string> {
  const { socket, received, closed } = await open(port);
  socket.write(
    `POST /${encodeURIComponent(place)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody`,
  );
  await closed;
  return received();
}

async function overHttp2(place: string): Promise<string> {
  const sent = { ":path": `/${encodeURIComponent(place)}`, ":method": "POST" };
  return http2Get(`http://127.0.0.1:${port}`, sent, "body").then(
    ({ status, body }) => `HTTP/2 ${status} ${body}`,
    (error) => `cut: ${error.message}`,
  );
}

/** These places throw when the answer is complete or on its way: the client keeps its answer, or loses its connection. */
const late = /^listener of the (end of the (request|answer)|close|connection)|after the answer/;

test.each(["HTTP/1.1", "HTTP/2"])(
  "an error that nothing catches ends its request over %s, is logged and counted, and the service goes on",
  async (protocol) => {
    expect(places.length).toBeGreaterThan(10);
    const unowned: string[] = [];
    let stopsBefore = (await report()).stops;
    for (const place of places) {
      const before = (await report()).counted;
      const answer = await (protocol === "HTTP/2" ? overHttp2(place) : overHttp1(place));
      await vi.waitFor(async () => {
        const { counted, stops } = await report();
        if (stops > stopsBefore) {
          unowned.push(place);
          stopsBefore = stops;
        }
        expect(counted, place).toBe(before + 1);
      });
      if (place === "timer of a begun answer") {
        expect(answer).toMatch(/^cut: .*INTERNAL_ERROR|begun(?!.*\r\n0\r\n)/s);
      } else if (!late.test(place)) {
        expect(answer, place).toMatch(/^HTTP\/[\d.]+ 500 .*"code":"internal"/s);
      }
      expect(await overHttp1("fine")).toMatch(/^HTTP\/1\.1 200 OK/);
    }
    expect(unowned, "attributed to no request").toEqual([]);
    expect((await report()).isOwned, "the context of a request leaked").toBe(false);
  },
);

test("an error before the request is known cuts its connection, also on the metrics port, and the service goes on", async () => {
  const before = await report();
  const { closed } = await open(port, "127.0.0.99");
  expect(await closed).toBe("");
  expect(await exchange(port, "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 127.0.0.99\r\n\r\n")).toBe("");
  const forwarded = { ":path": "/fine", "x-forwarded-for": "127.0.0.99" };
  // The client sees an error or only the end of the connection, which depends on the timing.
  const cut = await http2Get(`http://127.0.0.1:${port}`, forwarded).catch(() => undefined);
  expect(cut?.status).not.toBe(200);
  await expect(fetch(metricsUrl.replace("/metrics", "/healthz"))).rejects.toThrow("fetch failed");
  const after = await report();
  expect(after).toMatchObject({ counted: before.counted + 4, stops: before.stops, isOwned: false });
  expect(await overHttp1("fine")).toMatch(/^HTTP\/1\.1 200 OK/);
});

test("the service goes on after 1000 errors of requests, and logs at most ten of them in a minute", async () => {
  const { counted } = await report();
  for (let sent = 0; sent < 1000; sent += 50) {
    await Promise.all(Array.from({ length: 50 }, () => overHttp1("timer")));
  }
  const after = await report();
  expect(after.counted).toBe(counted + 1000);
  expect(after.logged.length).toBeLessThanOrEqual(10);
  expect(await overHttp1("fine")).toMatch(/^HTTP\/1\.1 200 OK/);
});

test("an error of no request asks for a stop, and the requests before it change nothing about that", async () => {
  await overHttp1("timer");
  await overHttp2("listener of the body");
  service.send("throw");
  await vi.waitFor(async () => expect((await report()).stops).toBe(1));
});

test("an error is logged and ends its request even if the request is not known yet", () => {
  const handlers: ((error: unknown) => void)[] = [];
  const host = { on: (_: string, handler: never) => handlers.push(handler), off: () => {} };
  const lines: object[] = [];
  const ended: unknown[] = [];
  guardRequests({ host, log: { error: (fields) => void lines.push(fields) }, stop: () => {} });
  const owner = {
    get fields(): never {
      throw new TypeError("the request is not known");
    },
    end: (error: unknown) => void ended.push(error),
  };
  const error = new Error("x");
  runAs(owner, () => handlers[0]?.(error));
  expect(lines).toEqual([{ err: error }]);
  expect(ended).toEqual([error]);
});

test("the line after a minute says how many errors were not logged", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const lines: object[] = [];
    const handlers: ((error: unknown) => void)[] = [];
    const host = { on: (_: string, handler: never) => handlers.push(handler), off: () => {} };
    let ended = 0;
    guardRequests({ host, log: { error: (fields) => void lines.push(fields) }, stop: () => {} });
    const fail = () =>
      runAs({ fields: { requestId: "a" }, end: () => void ended++ }, () => handlers[0]?.(new Error("x")));
    for (let count = 0; count < 25; count++) {
      fail();
    }
    expect(lines).toHaveLength(10);
    vi.advanceTimersByTime(60_000);
    fail();
    expect(lines).toHaveLength(11);
    expect(lines[10]).toMatchObject({ requestId: "a", count: 15, err: expect.any(Error) });
    expect(ended).toBe(26);
  } finally {
    vi.useRealTimers();
  }
});
