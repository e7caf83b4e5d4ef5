import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";
import { watchWork } from "./watch-work.ts";

const heartbeatMs = 500;
const engines = createEnginesInProcess();
const { expectNoWork } = watchWork(engines);
const app = useApp({ KIBITZ_ACCESS: "public" }, { heartbeatMs, engines });

/** A search that takes ten times as long as a heartbeat. */
const slow = { fen: startFen, depth: 20, movetime_ms: 10 * heartbeatMs };

test.each([
  ["a batch as JSON", "/v1/eval/batch", { requests: [slow] }, "application/json"],
  ["a batch as lines", "/v1/eval/batch", { requests: [slow] }, "application/x-ndjson"],
  ["a review as JSON", "/v1/review", { moves: ["e4"], depth: 20 }, "application/json"],
  ["a review as lines", "/v1/review", { moves: ["d4"], depth: 20 }, "application/x-ndjson"],
])(
  "%s begins with its RateLimit headers and a heartbeat before its first result is ready",
  async (_, path, body, accept) => {
    const answer = await fetch(app.url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", accept },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("ratelimit")).toMatch(/^"minute";r=\d+/);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value ?? []).toString()).toMatch(/^[[ ]$/);
    await reader.cancel();
    await expectNoWork();
  },
);

test("half of a surrogate pair in the name of a key becomes U+FFFD", async () => {
  const { status, body } = await post(`${app.url}/v1/keys`, '{"name":"a\\ud800b"}');
  expect([status, body.name]).toEqual([200, "a\ufffdb"]);
});
