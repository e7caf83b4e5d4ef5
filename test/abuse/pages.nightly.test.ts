import { Agent, get } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { rawRequest } from "../support/raw-http.ts";
import { ask } from "./ask.ts";
import { useService } from "./started-service.ts";
import { emptyGrpc } from "./stream-flood.ts";
import { expectOthersServed } from "./under-attack.ts";

const service = useService({ KIBITZ_ACCESS: "public" });

const attackMs = 6000;

/** Requests a path over many connections as fast as possible. Returns what was received, and a function that ends the attack. */
function flood(path: string, connections: number, localAddress: string) {
  const agent = new Agent({ keepAlive: true, localAddress, maxSockets: connections });
  const seen = { bytes: 0, statuses: new Map<number, number>() };
  let isOn = true;
  const one = () => {
    if (!isOn) {
      return;
    }
    const again = () => void sleep(1).then(one);
    get(service.url + path, { agent }, (res) => {
      const { statusCode = 0 } = res;
      seen.statuses.set(statusCode, (seen.statuses.get(statusCode) ?? 0) + 1);
      res.on("data", (chunk: Buffer) => {
        seen.bytes += chunk.length;
      });
      res.on("end", one).on("error", again);
    }).on("error", again);
  };
  for (let count = 0; count < connections; count++) {
    one();
  }
  return {
    seen,
    end() {
      isOn = false;
      agent.destroy();
    },
  };
}

test("42: one address that loads the largest page over 50 connections gets a bounded number of bytes, and others are served", async () => {
  let flooding: ReturnType<typeof flood> | undefined;
  await expectOthersServed(
    service,
    async () => {
      flooding = flood("/docs/swagger-ui-bundle.js", 50, "127.0.9.1");
      return flooding.end;
    },
    { heldMs: attackMs },
  );
  // Two windows of 32 MiB, and an answer for each connection that was begun within the rate.
  expect(flooding?.seen.bytes).toBeLessThan(2 * 32 * 1024 * 1024 + 50 * 1.8e6);
  expect(flooding?.seen.statuses.get(429)).toBeGreaterThan(0);
}, 60_000);

test("42: wrong paths as fast as possible get 429 after the rate, their log is summed up, and others are served", async () => {
  let flooding: ReturnType<typeof flood> | undefined;
  const before = service.printed().length;
  await expectOthersServed(
    service,
    async () => {
      flooding = flood("/nothing", 100, "127.0.9.2");
      return flooding.end;
    },
    { heldMs: attackMs },
  );
  expect(flooding?.seen.statuses.get(429)).toBeGreaterThan(0);
  await sleep(1500);
  const lines = service.printed().slice(before).split("\n");
  expect(lines.length).toBeLessThan((attackMs / 1000 + 4) * 130);
  const sums = lines.filter((line) => line.includes("refused calls without a line"));
  const counted = sums.reduce((sum, line) => sum + Number(JSON.parse(line).count), 0);
  const own = lines.filter((line) => line.includes('"request":"/nothing"')).length;
  const answered = [...(flooding?.seen.statuses.values() ?? [])].reduce((sum, count) => sum + count, 0);
  expect(counted + own).toBeGreaterThanOrEqual(answered);
}, 60_000);

test("42: 200 connections that check the health as fast as possible do not delay the probes of others", async () => {
  const attack = async () => {
    let isOn = true;
    const loop = async () => {
      while (isOn) {
        await new Promise<void>((resolve) => {
          const client = connectHttp2(service.url, {
            createConnection: () =>
              connect({ port: service.port, host: "127.0.0.1", localAddress: "127.0.9.3" }),
          });
          client.on("error", () => {}).on("close", resolve);
          for (let count = 0; count < 10; count++) {
            const headers = {
              ":method": "POST",
              ":path": "/grpc.health.v1.Health/Check",
              "content-type": "application/grpc",
            };
            client
              .request(headers)
              .on("error", () => {})
              .resume()
              .end(emptyGrpc.body);
          }
          setTimeout(() => client.destroy(), 500);
        });
      }
    };
    const loops = Array.from({ length: 200 }, loop);
    return () => {
      isOn = false;
      void Promise.all(loops);
    };
  };
  await expectOthersServed(service, attack, { heldMs: attackMs });
}, 60_000);

test("42: ten browsers behind one address load the page and the API reference with all files", async () => {
  const files = [
    "/",
    "/docs",
    "/docs/style.css",
    "/docs/start.js",
    "/docs/swagger-ui-bundle.js",
    "/docs/swagger-ui.css",
    "/docs/favicon-32x32.png",
    "/openapi.json",
    "/favicon.ico",
    "/problems",
  ];
  for (let visit = 0; visit < 2; visit++) {
    const statuses = await Promise.all(
      Array.from({ length: 10 }).flatMap(() =>
        files.map((path) =>
          ask(service.url + path, {
            localAddress: "127.0.9.4",
            headers: { "Accept-Encoding": "gzip, br", Accept: "text/html" },
          }),
        ),
      ),
    );
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
  }
});

test("42: pipelined requests with thousands of headers that wait behind an unread page do not harm others", async () => {
  const many = rawRequest(
    "GET /nothing",
    Array.from({ length: 2700 }, () => "a:b"),
  );
  const attack = async () => {
    const sockets = Array.from({ length: 150 }, () => {
      const socket = connect({ port: service.port, host: "127.0.0.1", localAddress: "127.0.9.5" });
      socket.on("error", () => {}).pause();
      socket.write(rawRequest("GET /docs/swagger-ui-bundle.js").repeat(4) + many.repeat(12));
      return socket;
    });
    return () => {
      for (const socket of sockets) {
        socket.destroy();
      }
    };
  };
  await expectOthersServed(service, attack, { heldMs: attackMs });
}, 60_000);
