import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openMetricsServer } from "../../src/http/metrics-server.ts";

const page = { print: async () => "kibitz_slots 2\n" };
const local = { host: "127.0.0.1", port: 0 };

test("shows metrics, and nothing else", async () => {
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
  // Prometheus 2 and 3.
  [
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "openmetrics",
  ],
  [
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
    "openmetrics",
  ],
])("for Accept: %s the format is %s", async (accept, format) => {
  await using server = await openMetricsServer({ print: async (asked) => asked }, local);
  const answer = await get(server.url, accept === undefined ? {} : { accept });
  expect(await text(answer)).toBe(format);
  expect(answer.headers["content-type"]).toBe(
    format === "text"
      ? "text/plain; version=0.0.4; charset=utf-8"
      : "application/openmetrics-text; version=1.0.0; charset=utf-8",
  );
});

/** Without the headers that fetch adds. */
async function get(url: string, headers: OutgoingHttpHeaders): Promise<IncomingMessage> {
  const [answer] = await once(request(url, { headers, agent: false }).end(), "response");
  return answer;
}

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
