import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";

const heartbeatMs = 200;
const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess(), heartbeatMs });

test("a slow JSON batch starts its response early, with a RateLimit header that includes all items", async () => {
  const { key } = (await post(`${app.url}/v1/keys`, {})).body;
  const slow = { fen: startFen, depth: 20, movetime_ms: 5 * heartbeatMs };
  const response = await fetch(`${app.url}/v1/eval/batch`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${key}` },
    body: JSON.stringify({ requests: [{ fen: startFen, depth: 1 }, slow] }),
  });
  expect(response.headers.get("ratelimit")).toMatch(/^"minute";r=238;t=\d+, "engine-day";/);
  const pieces: string[] = [];
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    pieces.push(piece);
  }
  const first = pieces.find((piece) => piece.includes('"index":0'));
  expect(first).toBeDefined();
  expect(first).not.toContain('"index":1');
  expect(JSON.parse(pieces.join(""))).toHaveLength(2);
});
