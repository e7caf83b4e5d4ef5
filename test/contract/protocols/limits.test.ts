import { describe, expect, test } from "vitest";
import { defaultWatchTimes } from "../../../src/engine/uci/watch.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { useTurnedClock } from "../../support/turned-clock.ts";
import { startFen } from "./cases/case.ts";
import { heads } from "./heads.ts";
import { get, post } from "./post.ts";
import type { Plain } from "./protocol.ts";

/** The length of the window in seconds. The tests advance the clock to the end of the window. */
const burstS = 60;
/** A pattern for the seconds until the end of the window: 1 to 60. */
const left = "(?:[1-9]|[1-5]\\d|60)";

const plans = usePlansFile(
  {
    id: "keyless",
    limits: { movetime_ms_max: 1000, rates: [rateOf("burst", 3, burstS), rateOf("hour", 100, 3600)] },
  },
  { id: "free", limits: { movetime_ms_max: 2000 } },
);
const metrics = createMetrics("1.2.3");
const engines = createEnginesInProcess();
const passMs = useTurnedClock();
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: plans,
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_SLOTS: "3",
  },
  { engines, metrics },
);

async function limitedBy(limit: string): Promise<number> {
  const line = new RegExp(`^kibitz_limited_total\\{limit="${limit}"\\} (\\d+)$`, "m");
  return Number(line.exec(await metrics.print())?.[1] ?? 0);
}

const json = { "Content-Type": "application/json" };
const ask = (request: Plain, caller: Readonly<Record<string, string>>, path = "/v1/eval") =>
  post(`${app.url}${path}`, request, { ...json, ...caller });
const quick = { fen: startFen, depth: 1 };

const fields = ({ headers }: { readonly headers: Headers }) => [
  headers.get("ratelimit-policy"),
  headers.get("ratelimit"),
];

describe.each(heads)("through $name", ({ ask: askHeads, ...kind }) => {
  const policy = `"burst";q=3;w=${burstS}, "hour";q=100;w=3600`;

  test(`every answer through ${kind.name} has the rate limit windows in its headers`, async () => {
    const caller = newCaller();
    const answer = await askHeads(app.url, quick, caller);
    expect(answer.status).toBe(kind.ok);
    expect(fields(answer)).toEqual([
      policy,
      expect.stringMatching(new RegExp(`^"burst";r=2;t=${left}, "hour";r=99;t=3[56]\\d\\d$`)),
    ]);
    expect(answer.trailers.get("ratelimit")).toBeNull();
  });

  test(`through ${kind.name}, an error that does not count as a request has the rate limit windows in the headers`, async () => {
    const caller = newCaller();
    const full = [policy, `"burst";r=3;t=${burstS}, "hour";r=100;t=3600`];
    expect(fields(await askHeads(app.url, { fen: "8/8/8/8/8/8/8/8 w - - 0 1" }, caller))).toEqual(full);
    const over = await askHeads(app.url, { ...quick, depth: 30 }, caller);
    expect(over.status).toBe(kind.upgrade);
    expect(fields(over)).toEqual(full);
  });
});

test.each(heads)(
  "the fourth request of a window through $name is refused, and is accepted after Retry-After",
  async ({ ask: askHeads, ...kind }) => {
    const caller = newCaller();
    for (let count = 0; count < 3; count++) {
      expect((await askHeads(app.url, quick, caller)).status).toBe(kind.ok);
    }
    const refused = await askHeads(app.url, quick, caller);
    expect(refused.status).toBe(kind.later);
    const waitS = new RegExp(`^"burst";r=0;t=(${left}), "hour";r=97;`).exec(fields(refused)[1] ?? "")?.[1];
    const retryAfter = refused.headers.get("retry-after") ?? refused.trailers.get("retry-after");
    expect(waitS).toBeDefined();
    expect(retryAfter).toBe(kind.errorsHaveHeaders ? waitS : null);
    passMs(Number(waitS) * 1000);
    const again = await askHeads(app.url, quick, caller);
    expect([again.status, fields(again)[1]]).toEqual([
      kind.ok,
      expect.stringMatching(new RegExp(`^"burst";r=2;t=${left}, "hour";r=96;`)),
    ]);
  },
);

test.each(heads)(
  "a request through $name above a limit is logged and counted with the name of the limit",
  async ({ ask: askHeads }) => {
    const [caller, before] = [newCaller(), await limitedBy("keyless/burst")];
    for (let count = 0; count < 4; count++) {
      await askHeads(app.url, quick, caller);
    }
    await expect.poll(() => limitedBy("keyless/burst")).toBe(before + 1);
    const lines = app.logged.filter((line) => "message" in line && line.message === "call");
    expect(lines.slice(-4).map((line) => ("limit" in line ? line.limit : undefined))).toEqual([
      undefined,
      undefined,
      undefined,
      "keyless/burst",
    ]);
  },
);

describe("a request that exceeds the plan", () => {
  test("a request above the plan gets the error 402, which names a sufficient plan and suggests a request that works", async () => {
    const caller = newCaller();
    const request = { fen: startFen, depth: 30, multipv: 6, movetime_ms: 2000, options: { skill_level: 3 } };
    const { status, body } = await ask(request, caller);
    expect(status).toBe(402);
    expect(body).toMatchObject({
      type: "/problems/upgrade-needed",
      code: "upgrade_needed",
      detail:
        "Keyless calls may ask for depth up to 20, multipv up to 5, movetime_ms up to 1000; this request asks for 30, 6, 2000.",
      next_action: "get_api_key",
      retryable: false,
      retry_after_ms: null,
      errors: [
        {
          pointer: "/depth",
          code: "over_plan_limit",
          message: "30 is more than the plan's maximum of 20.",
          allowed: { minimum: 1, maximum: 20 },
        },
        { pointer: "/multipv", allowed: { minimum: 1, maximum: 5 } },
        { pointer: "/movetime_ms", allowed: { minimum: 50, maximum: 1000 } },
      ],
      suggested_request: { ...request, depth: 20, multipv: 5, movetime_ms: 1000 },
      upgrade: { plan: "free", url: "/v1/keys" },
    });
    expect((await ask(body.suggested_request as Plain, caller)).status).toBe(200);
  });

  test("the error for a request that no plan allows advises a smaller request", async () => {
    const { body } = await ask({ fen: startFen, movetime_ms: 3000 }, newCaller());
    expect(body).toMatchObject({
      code: "upgrade_needed",
      next_action: "send_suggested_request",
      upgrade: null,
      suggested_request: { movetime_ms: 1000 },
    });
  });

  test("an invalid request that also exceeds the plan gets 400", async () => {
    const { status } = await ask({ fen: startFen, depth: 30, engine: "deep-blue" }, newCaller());
    expect(status).toBe(400);
  });

  test("a request that exceeds the plan gets 402 even when the rate limit is used up", async () => {
    const caller = newCaller();
    for (let count = 0; count < 4; count++) {
      await ask(quick, caller);
    }
    expect((await ask({ ...quick, depth: 30 }, caller)).status).toBe(402);
  });

  test("invalid requests and requests that exceed the plan do not count towards the rate limit", async () => {
    const caller = newCaller();
    for (let count = 0; count < 5; count++) {
      expect((await ask({ ...quick, depth: 30 }, caller)).status).toBe(402);
      expect((await ask({ fen: "8/8" }, caller)).status).toBe(400);
    }
    expect((await ask(quick, caller)).headers.get("ratelimit")).toMatch(/^"burst";r=2/);
  });
});

test("a search without a time limit ends after the maximum time of the plan", async () => {
  const { status, body } = await ask({ fen: startFen, depth: 20, multipv: 5 }, newCaller());
  expect([status, body.search]).toMatchObject([
    200,
    { stop_reason: "server_limit", limits: { movetime_ms: null } },
  ]);
  expect(engines.newest).toMatchObject({ movetimeMs: 1000 + defaultWatchTimes.marginMs });
});

describe("a batch", () => {
  const items = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ fen: startFen, depth: 1, multipv: 1 + (index % 5) }));
  const codesOf = (body: unknown) =>
    (body as readonly { readonly problem?: { readonly code: string } | null }[]).map(
      ({ problem }) => problem?.code ?? "ok",
    );

  test("each item of a batch counts as one request, and only the items above the rate limit are refused", async () => {
    const caller = newCaller();
    await ask(quick, caller);
    const { status, headers, body } = await ask({ requests: items(3) }, caller, "/v1/eval/batch");
    expect([status, codesOf(body)]).toEqual([200, ["ok", "ok", "rate_limited"]]);
    expect(headers.get("ratelimit-policy")).toContain(`"burst";q=3;w=${burstS}`);
    expect((body as unknown as readonly Plain[])[2]?.problem).toMatchObject({
      status: 429,
      next_action: "retry_later",
      retry_after_ms: expect.any(Number),
    });
  });

  test("each valid batch item within the plan counts as one request", async () => {
    const caller = newCaller();
    const requests = [{ ...quick, depth: 30 }, { fen: "8/8" }, quick];
    const { body } = await ask({ requests }, caller, "/v1/eval/batch");
    expect(codesOf(body)).toEqual(["upgrade_needed", "invalid_fen", "ok"]);
    expect((body as unknown as readonly Plain[])[0]?.problem).toMatchObject({
      next_action: "get_api_key",
      suggested_request: { fen: startFen, depth: 20 },
    });
    expect((await ask(quick, caller)).headers.get("ratelimit")).toMatch(/^"burst";r=1/);
  });

  test("a batch with more items than the plan ever allows gets 402, and a smaller batch is suggested", async () => {
    const caller = newCaller();
    const { status, body } = await ask({ requests: items(5) }, caller, "/v1/eval/batch");
    expect([status, body]).toMatchObject([
      402,
      {
        code: "upgrade_needed",
        next_action: "get_api_key",
        errors: [{ pointer: "/requests", allowed: { minItems: 1, maxItems: 3 } }],
        suggested_request: { requests: items(3) },
      },
    ]);
    const again = await ask(body.suggested_request as Plain, caller, "/v1/eval/batch");
    expect([again.status, codesOf(again.body)]).toEqual([200, ["ok", "ok", "ok"]]);
  });
});

describe("calls that cost no request or no engine time", () => {
  test("requests for engines, the price, pages and probes do not use the rate limit", async () => {
    const caller = newCaller();
    for (const path of ["/engines", "/price?depth=20", "/healthz", "/readyz", "/problems"]) {
      const { status, headers } = await fetch(app.url + path, { headers: caller });
      expect([status, headers.get("ratelimit")]).toEqual([200, null]);
    }
    expect((await ask(quick, caller)).headers.get("ratelimit")).toMatch(/^"burst";r=2/);
  });

  test("an answer that needs no engine counts as a request, but uses no engine time", async () => {
    const caller = newCaller();
    const mated = { fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" };
    await ask(quick, caller);
    expect((await ask(quick, caller)).body).toMatchObject({ search: { cached: true } });
    expect((await ask(mated, caller)).headers.get("ratelimit")).toMatch(/^"burst";r=0/);
  });
});

test("GET /price shows the configured plans and the URL for creating keys", async () => {
  const { body } = await get(`${app.url}/price?depth=20&multipv=5&movetime_ms=2000&nodes=2000000`);
  expect(body).toMatchObject({
    plans: [
      {
        id: "keyless",
        requires_key: false,
        limits: {
          depth_max: 20,
          multipv_max: 5,
          movetime_ms_max: 1000,
          nodes_max: 2_000_000,
          review_plies_max: 120,
          batch_max: 3,
          concurrent: 2,
          rates: [rateOf("burst", 3, burstS), rateOf("hour", 100, 3600)],
        },
      },
      { id: "free", requires_key: true, limits: { movetime_ms_max: 2000, concurrent: 4 } },
    ],
    key_url: "/v1/keys",
    estimate: {
      allowed: [
        { plan: "keyless", allowed: false },
        { plan: "free", allowed: true },
      ],
    },
  });
});
