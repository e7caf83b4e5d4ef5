import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { descendantsOf } from "../../engine/processes.ts";
import { testWith } from "../../support/needs.ts";
import { patienceMs } from "../../support/patience.ts";
import { logLevel, serve } from "../../support/served.ts";

/** These tests lower the limit of open files with `prlimit`. */
const test = testWith("util-linux");

const openFiles = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
const limitOpenFiles = (pid: number, soft: number) =>
  void execFileSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);

/** Returns a function that sends requests over a single connection, which stays open. */
function createCaller(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return async (path: string, body?: object) => {
    const call = request(url + path, {
      agent,
      method: body ? "POST" : "GET",
      headers: { "Content-Type": "application/json" },
    });
    call.end(body && JSON.stringify(body));
    const [response] = (await once(call, "response")) as [IncomingMessage];
    return { status: response.statusCode, body: await json(response) };
  };
}

test("a server without free file descriptors answers connected callers, refuses new connections, and recovers", async () => {
  const { url, pid, logged, stop } = await serve({ KIBITZ_CACHE_MB: "0" });
  const ask = createCaller(url);
  const evaluate = (depth: number) => ask("/v1/eval", { fen: startFen, depth });
  expect((await evaluate(4)).status).toBe(200);
  const plenty = 4096;
  const taken: Socket[] = [];
  onTestFinished(() => taken.forEach((socket) => void socket.destroy()));
  const takeAll = async () => {
    for (let count = 0; count < 50; count++) {
      taken.push(connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {}));
    }
    await sleep(500);
  };

  limitOpenFiles(pid, openFiles(pid) + 10);
  await takeAll();
  expect((await ask("/healthz")).status).toBe(200);
  expect((await evaluate(5)).status).toBe(200);
  const outside = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
  outside.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  let heard = 0;
  outside.on("data", ({ length }) => {
    heard += length;
  });
  // Node's `once` would reject if the server resets the connection, which is allowed here.
  await new Promise((resolve) => outside.once("close", resolve));
  expect(heard).toBe(0);

  for (const engine of descendantsOf(pid)) {
    process.kill(engine, "SIGKILL");
  }
  await expect.poll(() => descendantsOf(pid), { timeout: patienceMs }).toEqual([]);
  await takeAll();
  const refused = await evaluate(6);
  expect([refused.status, refused.body]).toMatchObject([
    503,
    { code: "starting", next_action: "retry_later" },
  ]);

  for (const socket of taken) {
    socket.destroy();
  }
  limitOpenFiles(pid, plenty);
  await expect.poll(async () => (await evaluate(7)).status, { timeout: 40_000, interval: 250 }).toBe(200);
  // The problem is logged, but not once for every connection.
  const complaints = logged.filter(({ level }) => level >= logLevel.warn);
  expect(complaints.map(({ msg }) => msg)).toContain("engine could not be started");
  expect(complaints.length).toBeLessThan(20);
  expect(await stop()).toBe(0);
});
