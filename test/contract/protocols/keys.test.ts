import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createApiKey } from "../../../src/access/keys.ts";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { remainingOf } from "../../support/remaining-of.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { useTurnedClock } from "../../support/turned-clock.ts";
import { rpcProtocols } from "./all-protocols.ts";
import { startFen } from "./cases/case.ts";
import { json } from "./clients/json.ts";
import { heads } from "./heads.ts";
import { get, post } from "./post.ts";
import type { Answered, Call, Plain, Protocol } from "./protocol.ts";

const dataDir = useTemporaryFolder();
const engines = createEnginesInProcess();
const passMs = useTurnedClock();
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_DATA_DIR: dataDir,
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_KEYS_PER_DAY: "2",
    KIBITZ_KEY_PEPPER: "canary pepper, never to be seen",
  },
  { engines },
);

const bearer = (key: unknown) => ({ Authorization: `Bearer ${key}` });
const keysUrl = () => `${app.url}/v1/keys`;

async function newKey(body: Plain = {}): Promise<Plain> {
  const reply = await post(keysUrl(), body, { "Content-Type": "application/json", ...newCaller() });
  expect(reply.status).toBe(200);
  return reply.body;
}

describe.each([json, ...rpcProtocols])("through $name", (kind) => {
  let protocol: Protocol;
  beforeAll(() => {
    protocol = kind.open(app.url);
  });
  afterAll(() => protocol[Symbol.asyncDispose]());
  const call = async (name: Call, request: Plain, headers: Readonly<Record<string, string>>) =>
    protocol.call(name, request, headers);

  test("a new key can be described, used and revoked", async () => {
    const caller = newCaller();
    const made = (await call("createKey", { name: "my bot" }, caller)) as Answered;
    expect(made).toMatchObject({
      kind: "answer",
      answer: {
        id: expect.any(String),
        key: expect.stringMatching(/^kbz_[0-9A-Za-z]{36}$/),
        name: "my bot",
        plan: "free",
        created_at: expect.anything(),
      },
    });
    const { key, id } = made.answer;
    const authorized = { ...caller, ...bearer(key) };
    expect(await call("evaluate", { fen: startFen, depth: 2, multipv: 10 }, authorized)).toMatchObject({
      kind: "answer",
    });
    expect(await call("getKey", {}, authorized)).toMatchObject({
      kind: "answer",
      answer: {
        id,
        name: "my bot",
        plan: "free",
        limits: {
          depth_max: 30,
          nodes_max: 40_000_000,
          review_plies_max: 600,
          batch_max: 200,
          concurrent: 4,
          rates: [{ name: "minute" }, { name: "engine-day" }, { name: "refusals" }, { name: "calls" }],
        },
      },
    });
    expect(await call("revokeKey", {}, authorized)).toMatchObject({ kind: "answer" });
    for (const name of ["getKey", "evaluate", "listEngines", "getPrice"] as const) {
      const request = name === "evaluate" ? { fen: startFen } : {};
      expect(await call(name, request, authorized)).toMatchObject({
        kind: "refusal",
        refusal: { code: "invalid_api_key", nextAction: "check_api_key" },
      });
    }
  });

  test("each address has its own daily quota of keys", async () => {
    const caller = newCaller();
    const codes: unknown[] = [];
    for (let count = 0; count < 3; count++) {
      const outcome = await call("createKey", {}, caller);
      codes.push(outcome.kind === "answer" ? "ok" : outcome.refusal);
    }
    expect(codes).toEqual([
      "ok",
      "ok",
      expect.objectContaining({ code: "rate_limited", nextAction: "retry_later" }),
    ]);
    expect(await call("createKey", {}, newCaller())).toMatchObject({ kind: "answer" });
  });
});

test("a repeated request with an idempotency key returns the same key with a new secret, and is counted once", async () => {
  const { call } = json.open(app.url);
  const caller = newCaller();
  const wish = { name: "my bot", idempotency_key: randomUUID() };
  const made = ((await call("createKey", wish, caller)) as Answered).answer;
  expect((await call("getKey", {}, { ...caller, ...bearer(made.key) })).kind).toBe("answer");
  for (let count = 0; count < 3; count++) {
    const again = ((await call("createKey", wish, caller)) as Answered).answer;
    expect(again).toEqual({ ...made, key: expect.stringMatching(/^kbz_/) });
    expect(again.key).not.toBe(made.key);
    expect((await call("getKey", {}, { ...caller, ...bearer(again.key) })).kind).toBe("answer");
    expect(await call("getKey", {}, { ...caller, ...bearer(made.key) })).toMatchObject({
      kind: "refusal",
      refusal: { code: "invalid_api_key" },
    });
  }
  expect((await call("createKey", {}, caller)).kind).toBe("answer");
  expect(await call("createKey", {}, caller)).toMatchObject({ refusal: { code: "rate_limited" } });
  // A repeated request is free even when the quota is used up.
  const last = ((await call("createKey", wish, caller)) as Answered).answer;
  expect(last.id).toBe(made.id);
  const elsewhere = ((await call("createKey", wish, newCaller())) as Answered).answer;
  expect(elsewhere.id).not.toBe(made.id);
  await call("revokeKey", {}, { ...caller, ...bearer(last.key) });
  expect(await call("createKey", wish, caller)).toMatchObject({ refusal: { code: "rate_limited" } });
});

test.each([
  ["", /16|empty/],
  ["x".repeat(15), /16/],
  ["x".repeat(65), /64/],
  ["sixteen or more characters", /ASCII characters without spaces/],
  ["sechzehn-und-größer", /ASCII characters without spaces/],
])("the server refuses the idempotency key %j", async (key, rule) => {
  expect(await json.open(app.url).call("createKey", { idempotency_key: key }, newCaller())).toMatchObject({
    kind: "refusal",
    refusal: {
      code: "out_of_range",
      violations: [{ pointer: "/idempotency_key", message: expect.stringMatching(rule) }],
    },
  });
});

test("a name or an idempotency key that contains an API key is refused", async () => {
  const secret = createApiKey();
  const request = { name: secret, idempotency_key: `again-${secret}` };
  const outcome = await json.open(app.url).call("createKey", request, newCaller());
  expect(outcome).toMatchObject({
    kind: "refusal",
    refusal: { code: "invalid_type", violations: [{ pointer: "/name" }, { pointer: "/idempotency_key" }] },
  });
  expect(JSON.stringify(outcome)).not.toContain(secret);
});

test.each(["a\tb", "a\u0000", "line\nbreak", "\u007f", "\u0085", "x".repeat(65)])(
  "the server refuses the key name %j",
  async (name) => {
    expect(await json.open(app.url).call("createKey", { name }, newCaller())).toMatchObject({
      kind: "refusal",
      refusal: { code: "out_of_range", violations: [{ pointer: "/name" }] },
    });
  },
);

describe.each(heads)("through $name, a credential", ({ ask, unauthenticated, ok, errorsHaveHeaders }) => {
  test.each([
    ["that is malformed", () => ({ authorization: "kbz" })],
    ["of another scheme", () => ({ authorization: "Basic YTpi" })],
    ["that is empty", () => ({ authorization: "" })],
    ["that is mistyped", () => ({ authorization: `Bearer ${createApiKey().slice(0, -1)}#` })],
    ["that is unknown", () => ({ authorization: `Bearer ${createApiKey()}` })],
    ["in the header X-API-Key", () => ({ "x-api-key": createApiKey() })],
  ])(
    "the server refuses a credential %s, and the error explains how to authenticate",
    async (_, credential) => {
      const { status, headers, trailers } = await ask(
        app.url,
        { fen: startFen, depth: 1 },
        credential() as Readonly<Record<string, string>>,
      );
      expect(status).toBe(unauthenticated);
      const how = headers.get("www-authenticate") ?? trailers.get("www-authenticate");
      expect(how).toBe(errorsHaveHeaders ? 'Bearer error="invalid_token"' : null);
    },
  );

  test("requests with one key from several addresses share one rate limit", async () => {
    const { key } = await newKey();
    const states: unknown[] = [];
    for (let count = 0; count < 2; count++) {
      const caller = newCaller();
      const answer = await ask(
        app.url,
        { fen: startFen, depth: 1 },
        { "x-forwarded-for": caller["x-forwarded-for"], authorization: `Bearer ${key}` },
      );
      states.push(answer.status, answer.headers.get("ratelimit"));
    }
    expect(states).toEqual([
      ok,
      expect.stringMatching(/^"minute";r=239;t=(60|59), "engine-day";r=3600;t=86400$/),
      ok,
      expect.stringMatching(/^"minute";r=238;/),
    ]);
  });
});

test("all keys that were issued to one address share the limits of one key", async () => {
  const caller = newCaller();
  const headers = { "Content-Type": "application/json", ...caller };
  const keys = [await post(keysUrl(), {}, headers), await post(keysUrl(), {}, headers)].map(
    ({ body }) => body.key,
  );
  const left: unknown[] = [];
  for (const key of [...keys, ...keys]) {
    const { headers: rateHeaders } = await post(
      `${app.url}/v1/eval`,
      { fen: startFen, depth: 1 },
      { "Content-Type": "application/json", ...newCaller(), ...bearer(key) },
    );
    left.push(rateHeaders.get("ratelimit")?.replace(/;t=.*/, ""));
  }
  expect(left).toEqual(['"minute";r=239', '"minute";r=238', '"minute";r=237', '"minute";r=236']);
  const { body } = await get(`${keysUrl()}/self`, { headers: bearer(keys[0]) });
  expect(remainingOf(body, "minute")).toBe(236);
});

test("the keys of one address share one limit of concurrent searches", async () => {
  const caller = newCaller();
  const headers = { "Content-Type": "application/json", ...caller };
  const [one, other] = [await post(keysUrl(), {}, headers), await post(keysUrl(), {}, headers)].map(
    ({ body }) => bearer(body.key),
  );
  const leaving = new AbortController();
  const search = async (index: number) => {
    const response = await fetch(`${app.url}/v1/eval`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...newCaller(), ...(index % 2 === 0 ? one : other) },
      body: JSON.stringify({ fen: startFen, depth: 30, multipv: 2 + index, movetime_ms: 4000 }),
      signal: leaving.signal,
    });
    return [response.status, ((await response.json()) as Plain).code];
  };
  // The first response is the error, because the other searches run until their time limit.
  const searching = [0, 1, 2, 3, 4].map(search);
  const first = await Promise.race(searching);
  leaving.abort();
  const outcomes = await Promise.allSettled(searching);
  expect(first).toEqual([429, "concurrency_limited"]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("an answer that contains or describes a key has a header that forbids caching", async () => {
  const { status, headers, body } = await post(
    keysUrl(),
    {},
    { "Content-Type": "application/json", ...newCaller() },
  );
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  const self = await get(`${keysUrl()}/self`, { headers: bearer(body.key) });
  expect([self.status, self.headers.get("cache-control")]).toEqual([200, "no-store"]);
});

test("GET /v1/keys/self shows the remaining requests and engine time", async () => {
  const { key, id } = await newKey();
  const headers = { "Content-Type": "application/json", ...bearer(key) };
  const { body } = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 16, multipv: 2 }, headers);
  const { time_ms: usedMs } = body.search as { readonly time_ms: number };
  // The second response comes from the cache. It costs a request, but no engine time.
  await post(`${app.url}/v1/eval`, { fen: startFen, depth: 16, multipv: 2 }, headers);
  expect((await get(`${keysUrl()}/self`, { headers: bearer(key) })).body).toEqual({
    id,
    name: null,
    plan: "free",
    limits: expect.objectContaining({ movetime_ms_max: 60_000 }),
    remaining: [
      {
        name: "minute",
        unit: "request",
        quota: 240,
        remaining: 238,
        window_s: 60,
        reset_ms: expect.toSatisfy((ms) => Number.isInteger(ms) && ms > 0 && ms <= 60_000),
      },
      {
        name: "engine-day",
        unit: "engine_ms",
        quota: 3_600_000,
        remaining: 3_600_000 - usedMs,
        window_s: 86_400,
        reset_ms: expect.toSatisfy((ms) => Number.isInteger(ms) && ms > 86_000_000 && ms <= 86_400_000),
      },
      { name: "refusals", unit: "refusal", quota: 120, remaining: 120, window_s: 60, reset_ms: 60_000 },
    ],
    expires_at: null,
  });
  expect(usedMs).toBeGreaterThan(0);
});

test.each(["/v1/eval", "/v1/eval/stream"])(
  "a client that disconnects from %s during a search is charged for the used engine time",
  async (path) => {
    const { key } = await newKey();
    // Engine time is also counted by address, so this caller has an unused address.
    const caller = { ...newCaller(), ...bearer(key) };
    const startedAt = performance.now();
    const leaving = new AbortController();
    const asked = fetch(app.url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...caller },
      body: JSON.stringify({ fen: startFen, depth: 30, multipv: 7 }),
      signal: leaving.signal,
    }).then((response) => response.text());
    const left = expect(asked).rejects.toThrow("left");
    await expect.poll(() => engines.searching).toBe(1);
    await sleep(300);
    leaving.abort(new Error("left"));
    await left;
    await sleep(300);
    const { body } = await get(`${keysUrl()}/self`, { headers: caller });
    const remaining = remainingOf(body, "engine-day");
    expect(3_600_000 - remaining).toBeGreaterThan(100);
    expect(3_600_000 - remaining).toBeLessThan(performance.now() - startedAt);
  },
);

describe("the command line while a server runs", () => {
  const kibitz = (...args: readonly string[]) =>
    runKibitz(["keys", ...args], {
      KIBITZ_DATA_DIR: dataDir,
      KIBITZ_KEY_PEPPER: "canary pepper, never to be seen",
    });
  /** A key expires only if it has expired by the wall clock and by the monotonic clock. */
  async function passOnAllClocks(ms: number): Promise<void> {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
    onTestFinished(() => void vi.useRealTimers());
    passMs(ms);
    await sleep(200);
  }
  const statusOf = async (key: string) => (await get(`${keysUrl()}/self`, { headers: bearer(key) })).status;

  test("a key from `kibitz keys` works at once, and stops working within 5 seconds after it was revoked", async () => {
    const { code, stdout } = await kibitz("create", "--name", "by hand", "--json");
    const { key, id } = JSON.parse(stdout);
    expect([code, await statusOf(key)]).toEqual([0, 200]);
    await kibitz("revoke", id);
    // The clock for the lookup of keys advances every 100 ms.
    passMs(4800);
    await sleep(200);
    expect(await statusOf(key)).toBe(401);
  });

  test("a change by `kibitz keys update` is in force within 5 seconds, and an end makes the key invalid", async () => {
    const { key, id } = JSON.parse((await kibitz("create", "--name", "before", "--json")).stdout);
    const self = async () => (await get(`${keysUrl()}/self`, { headers: bearer(key) })).body;
    expect(await self()).toMatchObject({ id, name: "before" });
    expect(await kibitz("update", id, "--name", "after", "--expires", "90d")).toMatchObject({ code: 0 });
    passMs(4800);
    await sleep(200);
    expect(await self()).toMatchObject({ id, name: "after" });
    await passOnAllClocks(90 * 86_400_000);
    expect(await self()).toMatchObject({
      code: "invalid_api_key",
      detail: expect.stringMatching(/expired: it was valid until 20/),
    });
  });

  test("after `kibitz keys rotate --overlap`, both keys work and share their limits, until the earlier key ends", async () => {
    const { key, id } = JSON.parse((await kibitz("create", "--json")).stdout);
    const evaluate = async (used: string) => {
      const headers = { "Content-Type": "application/json", ...bearer(used), ...newCaller() };
      const { status } = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 }, headers);
      const { body } = await get(`${keysUrl()}/self`, { headers: bearer(used) });
      return [status, status === 200 ? remainingOf(body, "minute") : undefined];
    };
    expect(await evaluate(key)).toEqual([200, 239]);
    const rotated = JSON.parse((await kibitz("rotate", id, "--overlap", "2h", "--json")).stdout);
    expect(await evaluate(rotated.key)).toEqual([200, 238]);
    expect(await evaluate(key)).toEqual([200, 237]);
    const endOf = async (used: string) =>
      (await get(`${keysUrl()}/self`, { headers: bearer(used) })).body.expires_at;
    const [listed] = (await kibitz("list", "--json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter((one) => one.id === id);
    // The server knows the key for a few seconds as it was before the rotation.
    await passOnAllClocks(5000);
    expect(await endOf(key)).toBe(listed.expires_at);
    expect(await endOf(rotated.key)).toBeNull();
    await passOnAllClocks(2 * 3_600_000 + 5000);
    expect(await evaluate(key)).toEqual([401, undefined]);
    expect((await evaluate(rotated.key))[0]).toBe(200);
  });

  test("`kibitz keys list` shows the time of the last use of a key", async () => {
    const { key, id } = await newKey({ name: "used" });
    await statusOf(String(key));
    const lastUsed = async () => {
      const { stdout } = await kibitz("list", "--json");
      const row = stdout.split("\n").find((line) => line.includes(String(id)));
      return JSON.parse(row ?? expect.fail("the key is not listed")).last_used_at;
    };
    await expect.poll(lastUsed, { interval: 200 }).toEqual(expect.any(String));
  });
});

test("the log and the error for a wrong key contain no key and no pepper", async () => {
  const canary = createApiKey();
  const { key } = await newKey({ name: "canary" });
  const answers: string[] = [];
  for (const secret of [canary, `${canary}0`, String(key).slice(0, -1), String(key).toLowerCase()]) {
    for (const path of ["/v1/keys/self", "/engines", "/price"]) {
      const response = await fetch(app.url + path, { headers: bearer(secret) });
      answers.push(await response.text(), JSON.stringify([...response.headers]));
      expect(response.status).toBe(401);
    }
    for (const { ask } of heads) {
      const { headers, trailers } = await ask(
        app.url,
        { fen: startFen },
        { authorization: `Bearer ${secret}` },
      );
      answers.push(JSON.stringify([[...headers], [...trailers]]));
    }
  }
  await get(`${keysUrl()}/self`, { headers: bearer(key) });
  const seen = [...answers, JSON.stringify(app.logged)].join("\n");
  expect(seen).toContain("invalid_api_key");
  for (const secret of [canary, String(key), "canary pepper"]) {
    expect(seen.toLowerCase()).not.toContain(secret.slice(0, 24).toLowerCase());
  }
});
