import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { flag, frame, frameType, headerBlock, requestFields } from "./frames.ts";
import { type Health, mib, watchHealth } from "./health-watch.ts";
import { descriptorsOf } from "./processes-of.ts";
import { rawRequest } from "./raw-http.ts";
import { startFen, useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public" });

const json = "Content-Type: application/json";
const halfCalls = Array.from({ length: 10 }, (_, count) =>
  frame(
    frameType.headers,
    flag.endHeaders,
    2 * count + 1,
    headerBlock(requestFields("POST", "/v1/eval", { "content-type": "application/json" })),
  ),
);

/** What each connection of a flood sends before it falls silent. */
const kinds: Readonly<Record<string, string | Uint8Array>> = {
  nothing: "",
  "a probe": rawRequest("GET /healthz"),
  "half a request": "POST /v1/ev",
  "half a body": rawRequest("POST /v1/eval", [json, "Content-Length: 1000"], "{"),
  "a call for a large page that it does not take": rawRequest("GET /docs/swagger-ui-bundle.js"),
  "the half of ten calls over HTTP/2": Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(frameType.settings, 0, 0),
    ...halfCalls,
  ]),
};

const openedAtOnce = 20;

/**
 * Opens connections as fast as the service takes them, and holds every one until the service closes it. Behind each few
 * comes a probe from another address: it stands in line behind them.
 *
 * @returns the statuses of those probes, and what ends the flood
 */
async function flood(
  connections: number,
  addressOf: (count: number) => string,
  bytes: string | Uint8Array,
): Promise<[statuses: Statuses, end: () => void]> {
  const held = new Set<Socket>();
  const statuses: (number | undefined)[] = [];
  for (let opened = 0; opened < connections; opened += openedAtOnce) {
    for (let count = 0; count < openedAtOnce; count++) {
      const localAddress = addressOf(opened + count);
      const socket = connect({ port: service.port, host: "127.0.0.1", localAddress });
      held.add(socket);
      socket.once("connect", () => socket.write(bytes));
      socket.on("error", () => {});
      socket.once("close", () => held.delete(socket));
    }
    statuses.push(await statusFrom("127.0.0.3", "/healthz"));
  }
  const end = () => {
    for (const socket of held) {
      socket.destroy();
    }
  };
  return [statuses, end];
}

type Statuses = readonly (number | undefined)[];

/** The status of an answer on a connection of its own; undefined where there is none. */
function statusFrom(localAddress: string, path: string, body?: object): Promise<number | undefined> {
  const method = body === undefined ? "GET" : "POST";
  const options = { method, localAddress, agent: false, headers: { "Content-Type": "application/json" } };
  return new Promise((resolve) => {
    request(service.url + path, options, (res) => res.resume().on("end", () => resolve(res.statusCode)))
      .on("error", () => resolve(undefined))
      .end(body && JSON.stringify(body));
  });
}

/** Who has not asked before. */
let callers = 0;
const newCaller = () => `127.1.${++callers >> 8}.${callers & 255}`;

/** Others get what they ask for while connections are opened, and afterwards. */
async function expectNobodyNotices(flooding: ReturnType<typeof flood>): Promise<Health> {
  const stop = await watchHealth(service);
  let floods = true;
  const ended = flooding.finally(() => {
    floods = false;
  });
  const evaluations: Statuses[number][] = [];
  while (floods) {
    evaluations.push(await statusFrom(newCaller(), "/v1/eval", { fen: startFen, depth: 6 }));
  }
  const [probes] = await ended;
  evaluations.push(await statusFrom(newCaller(), "/v1/eval", { fen: startFen, depth: 6 }));
  const health = await stop();
  expect([...new Set(probes), ...new Set(evaluations)]).toEqual([200, 200]);
  expect(health.failed).toBe(0);
  expect(health.grownBytes).toBeLessThan(200 * mib);
  return health;
}

describe("33: a flood of connections takes nobody else's place", () => {
  test.each(Object.entries(kinds))("of one address, each with %s", async (_, bytes) => {
    // Eight times as many as an address may hold.
    const flooding = flood(2000, () => "127.0.0.2", bytes);
    onTestFinished(async () => (await flooding)[1]());
    const health = await expectNobodyNotices(flooding);
    expect(health.ownMaxMs).toBeLessThan(100);
  });

  test("of a thousand addresses, which together hold every one there is", async () => {
    // A request each: what has never sent one is closed sooner than a busy machine fills the service.
    const addressOf = (count: number) => `127.2.${Math.floor(count / 250) % 4}.${count % 250}`;
    const flooding = flood(10_500, addressOf, rawRequest("GET /healthz"));
    const health = await expectNobodyNotices(flooding);
    expect(health.ownMaxMs).toBeLessThan(100);
    const open = descriptorsOf(service.pid).length;
    expect(open).toBeGreaterThan(9800);
    expect(open).toBeLessThan(11_100);
    (await flooding)[1]();
    await expect.poll(() => descriptorsOf(service.pid).length, { timeout: 20_000 }).toBeLessThan(200);
  }, 120_000);
});
