import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { openMetricsServer } from "../../src/http/metrics-server.ts";

const page = { contentType: "text/plain", print: async () => "kibitz_slots 2\n" };
const local = { host: "127.0.0.1", port: 0 };

test("shows metrics, and nothing else", async () => {
  await using server = await openMetricsServer(page, local);
  const shown = await fetch(server.url);
  expect([shown.status, shown.headers.get("content-type"), await shown.text()]).toEqual([
    200,
    "text/plain",
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

test("prints anew each time", async () => {
  let count = 0;
  await using server = await openMetricsServer({ ...page, print: async () => `${++count}` }, local);
  expect([await (await fetch(server.url)).text(), await (await fetch(server.url)).text()]).toEqual([
    "1",
    "2",
  ]);
});

test("cannot be opened where somebody else listens", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  await expect(openMetricsServer(page, { ...local, port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  other.close();
});

test("says 500 where they cannot be printed, and goes on", async () => {
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
