import { expect, test } from "vitest";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";

/** With a key, a search may take a minute. */
const app = useApp({ KIBITZ_ACCESS: "public" });

test("whoever asks for too many at a time is told to come back when they end, not when they must", async () => {
  const { body } = await post(`${app.url}/v1/keys`, {});
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${body.key}` };
  const ask = (multipv: number) => post(`${app.url}/v1/eval`, { fen: startFen, depth: 14, multipv }, headers);
  const replies = await Promise.all([1, 2, 3, 4, 5, 6].map(ask));
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused.map(({ body: { code } }) => code)).toEqual(["concurrency_limited", "concurrency_limited"]);
  const waits = refused.map((reply) => Number(reply.headers.get("retry-after")));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5);
});
