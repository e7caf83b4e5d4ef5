import { expect, test } from "vitest";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { describeWith } from "../../support/needs.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useRedis } from "../../support/redis.ts";
import { useNodes } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { heads } from "./heads.ts";
import { get, post } from "./post.ts";

const json = { "Content-Type": "application/json" };
const quick = { fen: startFen, depth: 1 };
const games = ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5"];

/** The timeouts are long. On a busy machine, a node could otherwise conclude that Redis is unreachable. */
const patient = { operationMaxMs: 10_000, connectMaxMs: 10_000 };

const jsonCaller = () => ({ ...json, ...newCaller() });

describeWith("redis")("three nodes with one Redis", () => {
  const redis = useRedis();
  const plans = usePlansFile({
    id: "keyless",
    limits: {
      concurrent: 2,
      rates: [rateOf("minute", 6, 60), rateOf("refusals", 5, 60, "refusal")],
    },
  });
  const settings = {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: plans,
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_SLOTS: "2",
    get KIBITZ_REDIS_URL() {
      return redis.url;
    },
  };
  const engines = [1, 2, 3].map(() => createEnginesInProcess());
  const nodes = useNodes(settings, ...engines.map((own) => ({ engines: own, redis: patient })));
  let asked = 0;
  const next = () => nodes[asked++ % nodes.length]?.url ?? "";

  test.each(heads)(
    "three nodes with one Redis accept as many requests through $name as one node, and show the remaining requests",
    async (kind) => {
      const caller = newCaller();
      const startedAt = performance.now();
      for (let left = 5; left >= 0; left--) {
        const answer = await kind.ask(next(), quick, caller);
        expect(answer.status).toBe(kind.ok);
        expect(answer.headers.get("ratelimit")).toMatch(new RegExp(`^"minute";r=${left};t=\\d+$`));
      }
      for (const _ of nodes) {
        expect((await kind.ask(next(), quick, caller)).status).toBe(kind.later);
      }
      const { headers } = await post(`${next()}/v1/eval`, quick, { ...json, ...caller });
      const seconds = Number(headers.get("retry-after"));
      expect(seconds).toBeGreaterThanOrEqual(Math.floor(60 - (performance.now() - startedAt) / 1000));
      expect(seconds).toBeLessThanOrEqual(60);
      expect(headers.get("ratelimit")).toBe(`"minute";r=0;t=${seconds}`);
    },
  );

  test("a change by kibitz keys update in Redis is in force on three nodes within 5 seconds", async () => {
    const kibitz = (...args: readonly string[]) =>
      runKibitz(["keys", ...args], { KIBITZ_REDIS_URL: redis.url });
    const { key, id } = JSON.parse((await kibitz("create", "--name", "before", "--json")).stdout);
    const names = () =>
      Promise.all(
        nodes.map(async ({ url }) => {
          const { body } = await get(`${url}/v1/keys/self`, { headers: { Authorization: `Bearer ${key}` } });
          return body.name;
        }),
      );
    expect(await names()).toEqual(["before", "before", "before"]);
    await kibitz("update", id, "--name", "after");
    await expect.poll(names, { timeout: 5000 }).toEqual(["after", "after", "after"]);
  });

  test("three nodes with one Redis have one common window for the items of a batch and the cost of a review", async () => {
    const caller = jsonCaller();
    const { body } = await post(`${next()}/v1/eval/batch`, { requests: [quick, quick, quick] }, caller);
    expect(body).toMatchObject([{ result: {} }, { result: {} }, { result: {} }]);
    const review = { fen: "startpos", moves: games, depth: 1 };
    const reviewed = await post(`${next()}/v1/review`, review, caller);
    expect(reviewed.headers.get("ratelimit")).toMatch(/^"minute";r=2;/);
    const rest = await post(`${next()}/v1/eval/batch`, { requests: [quick, quick, quick] }, caller);
    expect(rest.body).toMatchObject([{ result: {} }, { result: {} }, { problem: { code: "rate_limited" } }]);
    expect((await post(`${next()}/v1/review`, review, caller)).status).toBe(429);
  });

  test("three nodes with one Redis share the limit of concurrent searches, also after a client has disconnected", async () => {
    const caller = jsonCaller();
    const leaving = new AbortController();
    // Different positions, because equal requests would share one search.
    const long = nodes.slice(0, 2).map(({ url }, move) =>
      fetch(`${url}/v1/eval`, {
        method: "POST",
        headers: caller,
        body: JSON.stringify({ fen: startFen.replace(/1$/, String(move + 1)), depth: 20 }),
        signal: leaving.signal,
      }).catch(() => undefined),
    );
    const last = nodes[2]?.url ?? "";
    await expect.poll(() => engines.map(({ searching }) => searching)).toEqual([1, 1, 0]);
    const refused = await post(`${last}/v1/eval`, quick, caller);
    expect(refused.body).toMatchObject({ code: "concurrency_limited", retryable: true });
    leaving.abort();
    await Promise.all(long);
    await expect.poll(async () => (await post(`${last}/v1/eval`, quick, caller)).status).toBe(200);
  });

  test("three nodes with one Redis share an error quota, and each node accepts at most one request too many", async () => {
    const caller = jsonCaller();
    const statuses: number[] = [];
    for (let count = 0; count < 15; count++) {
      statuses.push((await post(`${next()}/v1/eval`, { fen: "wrong" }, caller)).status);
    }
    expect(statuses.filter((status) => status === 400).length).toBeLessThanOrEqual(5 + 2);
    expect(new Set(statuses.slice(-8))).toEqual(new Set([429]));
  });

  test("three nodes with one Redis accept the same keys, and refuse a key that another node has revoked", async () => {
    const caller = jsonCaller();
    const [one, two, three] = nodes.map(({ url }) => url);
    const issued = await post(`${one}/v1/keys`, { name: "bot" }, { ...caller, "Idempotency-Key": "wish" });
    const authorization = `Bearer ${issued.body.key}`;
    for (const url of [one, two, three]) {
      const { status, body } = await get(`${url}/v1/keys/self`, { headers: { authorization } });
      expect([status, body.id]).toEqual([200, issued.body.id]);
    }
    await fetch(`${two}/v1/keys/self`, { method: "DELETE", headers: { authorization } });
    // A node that has read the key reads it again after 3 s.
    for (const url of [one, two, three]) {
      const statusOf = async () => (await get(`${url}/v1/keys/self`, { headers: { authorization } })).status;
      await expect.poll(statusOf, { timeout: 5000 }).toBe(401);
    }
  });
});
