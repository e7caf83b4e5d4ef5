import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { useTurnedClock } from "../../support/turned-clock.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";
import type { Plain } from "./protocol.ts";

const plansFile = usePlansFile(
  { id: "keyless", limits: { rates: [rateOf("burst", 3, 2)] } },
  { id: "free", limits: { depth_max: 25, rates: [rateOf("burst", 3, 2)] } },
);

const passMs = useTurnedClock();
const json = { "Content-Type": "application/json" };

/** Sends a request and obeys the `next_action` of each error, for at most `stepsMax` steps. */
async function follow(url: string, path: string, request: Plain, caller = {}, stepsMax = 6) {
  const steps: string[] = [];
  let body = request;
  let headers: Readonly<Record<string, string>> = { ...json, ...caller };
  while (steps.length < stepsMax) {
    const reply = await post(url + path, body, headers);
    if (reply.status === 200) {
      return { steps: [...steps, "200"], sent: body, answer: reply.body };
    }
    const action = String(reply.body.next_action);
    steps.push(`${reply.status} ${action}`);
    switch (action) {
      case "get_api_key": {
        const { url: keyUrl } = reply.body.upgrade as { readonly url: string };
        const { status, body: issued } = await post(url + keyUrl, {});
        steps.push(`key ${status}`);
        headers = { ...headers, Authorization: `Bearer ${issued.key}` };
        break;
      }
      case "send_suggested_request":
        body = reply.body.suggested_request as Plain;
        break;
      case "retry_later":
        passMs(Number(reply.headers.get("retry-after")) * 1000);
        break;
      default:
        return { steps, sent: body, answer: reply.body };
    }
  }
  return { steps, sent: body, answer: {} };
}

describe("a client that obeys next_action", () => {
  const app = useApp(
    { KIBITZ_ACCESS: "public", KIBITZ_PLANS: plansFile, KIBITZ_TRUST_PROXY: "127.0.0.1" },
    { engines: createEnginesInProcess({ quickPlies: 30 }) },
  );
  const mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

  test("a client that obeys next_action creates a key for a deep search, and then gets the result", async () => {
    const { steps, answer } = await follow(app.url, "/v1/eval", { fen: mate, depth: 25 });
    expect(steps).toEqual(["402 get_api_key", "key 200", "200"]);
    expect(answer).toMatchObject({ search: { depth: 25 } });
  });

  test("a client that obeys next_action sends the corrected request if no plan allows the original request", async () => {
    const { steps, sent } = await follow(app.url, "/v1/bestmove", { fen: mate, depth: 30 });
    expect(steps).toEqual(["402 send_suggested_request", "200"]);
    expect(sent).toEqual({ fen: mate, depth: 20 });
  });

  test("a client that obeys next_action waits for the Retry-After time once, and then gets the result", async () => {
    // A new caller, because the window of the previous caller is used up.
    const caller = { "X-Forwarded-For": "198.51.100.1" };
    for (let count = 0; count < 3; count++) {
      await post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 }, { ...json, ...caller });
    }
    const { steps } = await follow(app.url, "/v1/eval", { fen: startFen, depth: 1 }, caller);
    expect(steps).toEqual(["429 retry_later", "200"]);
  });
});

describe("if a key is required", () => {
  const app = useApp(
    { KIBITZ_ACCESS: "keys", KIBITZ_SELF_SERVICE_KEYS: "true", KIBITZ_PLANS: plansFile },
    { engines: createEnginesInProcess() },
  );

  test.each(["/v1/eval", "/v1/bestmove", "/v1/eval/stream"])(
    "if a key is required, %s without a key returns 401",
    async (path) => {
      const { status, headers, body } = await post(app.url + path, { fen: startFen, depth: 1 });
      expect([status, headers.get("www-authenticate"), body]).toMatchObject([
        401,
        "Bearer",
        { code: "api_key_required", next_action: "get_api_key" },
      ]);
    },
  );

  test("if a key is required, the pages about the service are public and show the plans", async () => {
    expect((await fetch(`${app.url}/engines`)).status).toBe(200);
    const price = (await (await fetch(`${app.url}/price`)).json()) as Plain;
    expect(price).toMatchObject({ plans: [{ id: "free" }], key_url: "/v1/keys" });
  });

  test("if a key is required, a client can request a key, and the key works", async () => {
    const { body } = await post(`${app.url}/v1/keys`, {});
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${body.key}` };
    const answer = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 }, headers);
    expect([answer.status, answer.headers.get("ratelimit")]).toEqual([
      200,
      expect.stringMatching(/^"burst";r=2;t=[12]$/),
    ]);
  });
});

describe("in a private network", () => {
  const app = useApp(
    { KIBITZ_ACCESS: "open", KIBITZ_SELF_SERVICE_KEYS: "true" },
    { engines: createEnginesInProcess() },
  );

  test("in open mode, clients have no limits and get no RateLimit headers", async () => {
    const asked = Array.from({ length: 70 }, () => post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 }));
    const replies = await Promise.all(asked);
    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    expect(
      replies.filter(({ headers }) => headers.has("ratelimit") || headers.has("ratelimit-policy")),
    ).toEqual([]);
  });

  test("in open mode, a wrong key is refused", async () => {
    const ask = (key: unknown) =>
      post(
        `${app.url}/v1/eval`,
        { fen: startFen, depth: 1 },
        {
          "Content-Type": "application/json",
          Authorization: `Bearer ${key}`,
        },
      );
    expect((await ask("kbz_wrong")).status).toBe(401);
    const { body } = await post(`${app.url}/v1/keys`, {});
    expect((await ask(body.key)).status).toBe(200);
  });
});
