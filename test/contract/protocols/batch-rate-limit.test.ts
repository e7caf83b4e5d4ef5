import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newAddress } from "../../support/new-caller.ts";
import { remainingOf } from "../../support/remaining-of.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { get, post } from "./post.ts";

const app = useApp(
  { KIBITZ_ACCESS: "public", KIBITZ_TRUST_PROXY: "127.0.0.1" },
  { engines: createEnginesInProcess() },
);

const good = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ fen: startFen, depth: 1, multipv: 1 + (index % 5) }));
const json = { "Content-Type": "application/json" };

/** Creates a caller whose plan allows 240 requests a minute. */
async function newCaller() {
  const headers = { ...json, "X-Forwarded-For": newAddress() };
  const { key } = (await post(`${app.url}/v1/keys`, {}, headers)).body;
  return { ...headers, Authorization: `Bearer ${key}` };
}

const leftOf = async (headers: Readonly<Record<string, string>>) =>
  remainingOf((await get(`${app.url}/v1/keys/self`, { headers })).body, "minute");

test.each([
  ["100 positions", good(100), 140],
  ["valid and invalid positions", [...good(3), { fen: "8/8" }, { fen: 1 }, ...good(3)], 234],
])(
  "the RateLimit header of a JSON batch of %s shows the requests that remain after the batch",
  async (_, requests, left) => {
    const caller = await newCaller();
    const { status, headers } = await post(`${app.url}/v1/eval/batch`, { requests }, caller);
    expect(status).toBe(200);
    expect(headers.get("ratelimit")).toMatch(
      new RegExp(`^"minute";r=${left};t=\\d+, "engine-day";r=\\d+;t=\\d+$`),
    );
    expect(await leftOf(caller)).toBe(left);
  },
);

test("the RateLimit header of a batch with JSON lines as response counts every item, even if an item later fails", async () => {
  const caller = await newCaller();
  const headers = { ...caller, Accept: "application/x-ndjson" };
  const body = JSON.stringify({ requests: good(50) });
  const answer = await fetch(`${app.url}/v1/eval/batch`, { method: "POST", headers, body });
  expect(answer.headers.get("ratelimit")).toMatch(/^"minute";r=190;t=\d+, "engine-day";r=\d+;t=\d+$/);
  await answer.text();
  expect(await leftOf(caller)).toBe(190);
});
