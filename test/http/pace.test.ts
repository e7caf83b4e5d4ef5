import { expect, test } from "vitest";
import { createPace } from "../../src/http/listener/pace.ts";
import { open } from "../support/raw-http.ts";
import { startListener } from "./start-listener.ts";

test("connections of a holder beyond the number at once wait for their turns, and those of others do not", () => {
  let now = 5000;
  const wait = createPace(10, 2, () => now);
  expect([wait("a"), wait("a"), wait("a"), wait("a")]).toEqual([0, 0, 100, 200]);
  expect(wait("b")).toBe(0);
  now += 250;
  expect(wait("a")).toBe(50);
  now += 10_000;
  expect([wait("a"), wait("a"), wait("a")]).toEqual([0, 0, 100]);
});

test("a connection that would wait longer than a second has no turn and delays no later connection", () => {
  let now = 5000;
  const wait = createPace(10, 2, () => now);
  const waits = Array.from({ length: 100 }, () => wait("a"));
  expect(waits.filter((waitMs) => waitMs !== undefined)).toHaveLength(12);
  now += 1000;
  expect(wait("a")).toBe(100);
});

const request = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

async function answeredWithinMs(port: number, from: string): Promise<number> {
  const startedAt = performance.now();
  const { socket, closed } = await open(port, from);
  socket.write(request);
  expect(await closed).toContain("200 OK");
  return performance.now() - startedAt;
}

const limits = { connectionsAtOnce: 2, connectionsPerSecond: 4 };

test("connections of an address over its rate are answered later, and those of other addresses at once", async () => {
  const { port } = await startListener([], limits, undefined, { connectionsPerAddress: 4 });
  const times = await Promise.all(Array.from({ length: 4 }, () => answeredWithinMs(port, "127.0.0.2")));
  expect(Math.max(...times)).toBeGreaterThan(400);
  expect(await answeredWithinMs(port, "127.0.0.3")).toBeLessThan(200);
});

test("a trusted proxy opens connections at any rate", async () => {
  const { port } = await startListener([], limits, undefined, {
    connectionsPerAddress: 4,
    callerOf: () => undefined,
  });
  const times = await Promise.all(Array.from({ length: 8 }, () => answeredWithinMs(port, "127.0.0.2")));
  expect(Math.max(...times)).toBeLessThan(400);
});

test("a connection that breaks while it waits for its turn is no error of the service", async () => {
  const { port, errors } = await startListener([], limits, undefined, { connectionsPerAddress: 4 });
  for (let count = 0; count < 4; count++) {
    const { socket } = await open(port, "127.0.0.2");
    socket.write(request);
    socket.resetAndDestroy();
  }
  expect(await answeredWithinMs(port, "127.0.0.3")).toBeLessThan(200);
  expect(errors).toEqual([]);
});
