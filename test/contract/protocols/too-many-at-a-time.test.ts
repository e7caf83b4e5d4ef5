import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newAddress } from "../../support/new-caller.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";

/** A search deeper than 10 plies runs until its caller disconnects. */
const engines = createEnginesInProcess({ quickPlies: 10 });
const app = useApp(
  { KIBITZ_ACCESS: "public", KIBITZ_SLOTS: "6", KIBITZ_TRUST_PROXY: "127.0.0.1" },
  { engines },
);

const json = { "Content-Type": "application/json" };
const quick = { fen: startFen, depth: 1 };

async function newCaller() {
  const address = { "X-Forwarded-For": newAddress() };
  const { body } = await post(`${app.url}/v1/keys`, {}, { ...json, ...address });
  return { ...json, ...address, Authorization: `Bearer ${body.key}` };
}

/**
 * Starts searches that run until the caller disconnects. Each search has a different number of lines, because equal searches
 * share one result.
 */
function startSearches(count: number, headers: Readonly<Record<string, string>>) {
  const leaving = new AbortController();
  const answers: Response[] = [];
  const asked = Array.from({ length: count }, async (_, index) => {
    const body = JSON.stringify({ fen: startFen, depth: 14, multipv: index + 1 });
    const request = { method: "POST", headers, body, signal: leaving.signal };
    answers.push(await fetch(`${app.url}/v1/eval`, request));
  });
  return {
    answers,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await Promise.allSettled(asked);
      await expect.poll(() => engines.searching, { timeout: patienceMs }).toBe(0);
    },
  };
}

test("Retry-After for too many concurrent searches is the expected search time, not the maximum time", async () => {
  await using searches = startSearches(6, await newCaller());
  const { answers } = searches;
  await expect.poll(() => answers.length, { timeout: patienceMs }).toBe(2);
  for (const response of answers) {
    expect([response.status, await response.json()]).toMatchObject([
      429,
      { code: "concurrency_limited", next_action: "retry_later" },
    ]);
    expect(response.headers.get("retry-after")).toMatch(/^[1-5]$/);
  }
});

test("a client can run only as many concurrent searches as the plan allows, and other clients are not affected", async () => {
  const caller = await newCaller();
  {
    await using _ = startSearches(4, caller);
    await expect.poll(() => engines.searching, { timeout: patienceMs }).toBe(4);
    const refused = await post(`${app.url}/v1/eval`, quick, caller);
    expect(refused.body).toMatchObject({ status: 429, code: "concurrency_limited" });
    expect(refused.headers.get("ratelimit")).toMatch(/^"minute";r=236;/);
    expect((await post(`${app.url}/v1/eval`, quick, json)).status).toBe(200);
  }
  expect((await post(`${app.url}/v1/eval`, quick, caller)).status).toBe(200);
});

test("a batch waits while single searches of the same client run", async () => {
  const caller = await newCaller();
  const searches = startSearches(4, caller);
  await expect.poll(() => engines.searching, { timeout: patienceMs }).toBe(4);
  const batch = post(`${app.url}/v1/eval/batch`, { requests: [quick] }, caller);
  const waits = Symbol("the batch waits");
  expect(await Promise.race([batch, sleep(100, waits)])).toBe(waits);
  await searches[Symbol.asyncDispose]();
  expect((await batch).body).toMatchObject([{ result: {} }]);
});
