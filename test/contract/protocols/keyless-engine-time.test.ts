import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { useTurnedClock } from "../../support/turned-clock.ts";
import { startFen } from "./cases/case.ts";
import { heads } from "./heads.ts";
import { get, post } from "./post.ts";

let positions = 0;
/** Each request needs a new position, because a cached answer needs no engine time. */
const quick = () => ({ fen: startFen.replace(/1$/, String(++positions)), depth: 8 });

const json = { "Content-Type": "application/json" };
const passMs = useTurnedClock();
/** Any search uses up one millisecond of engine time. */
const plans = usePlansFile({
  id: "keyless",
  limits: {
    rates: [
      rateOf("minute", 60, 60),
      rateOf("engine-hour", 1, 3600, "engine_ms"),
      rateOf("engine-day", 2500, 86_400, "engine_ms"),
    ],
  },
});

describe("a plan whose engine time is used up by one search", () => {
  const app = useApp(
    { KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans, KIBITZ_TRUST_PROXY: "127.0.0.1" },
    { engines: createEnginesInProcess() },
  );

  test.each(heads)(
    "a caller without a key whose engine time of the hour is used up is refused through $name, and is answered after Retry-After",
    async ({ ask, ...kind }) => {
      const caller = newCaller();
      const first = await ask(app.url, quick(), caller);
      expect(first.status).toBe(kind.ok);
      expect(first.headers.get("ratelimit-policy")).toBe(
        '"minute";q=60;w=60, "engine-hour";q=0;w=3600, "engine-day";q=2;w=86400',
      );
      expect(first.headers.get("ratelimit")).toBe(
        '"minute";r=59;t=60, "engine-hour";r=0;t=3600, "engine-day";r=2;t=86400',
      );
      const refused = await ask(app.url, quick(), caller);
      expect(refused.status).toBe(kind.later);
      const { headers, body } = await post(`${app.url}/v1/eval`, quick(), { ...json, ...caller });
      expect(body).toMatchObject({ code: "quota_exhausted", detail: expect.stringContaining("engine-hour") });
      const waitS = Number(headers.get("retry-after"));
      expect(headers.get("ratelimit")).toContain(`"engine-hour";r=0;t=${waitS}`);
      expect((await ask(app.url, quick(), newCaller())).status).toBe(kind.ok);
      passMs(waitS * 1000);
      expect((await ask(app.url, quick(), caller)).status).toBe(kind.ok);
    },
  );

  test("a batch and a review of a caller whose engine time is used up are refused", async () => {
    const caller = { ...json, ...newCaller() };
    expect((await post(`${app.url}/v1/eval`, quick(), caller)).status).toBe(200);
    for (const [path, body] of [
      ["/v1/eval/batch", { requests: [quick()] }],
      ["/v1/review", { moves: ["e4", "e5"], depth: 8 }],
    ] as const) {
      expect(await post(`${app.url}${path}`, body, caller)).toMatchObject({
        status: 429,
        body: { code: "quota_exhausted" },
      });
    }
  });
});

describe("the built-in plans", () => {
  const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess() });

  test("GET /price and each answer show 300 s of engine time in an hour and 3,600 s in a day for callers without a key", async () => {
    const { body } = await get(`${app.url}/price`);
    const [keyless] = (body as { plans: { id: string; limits: { rates: object[] } }[] }).plans;
    expect(keyless?.limits.rates).toEqual(
      expect.arrayContaining([
        { name: "engine-hour", quota: 300_000, window_s: 3600, unit: "engine_ms" },
        { name: "engine-day", quota: 3_600_000, window_s: 86_400, unit: "engine_ms" },
      ]),
    );
    const { headers } = await post(`${app.url}/v1/eval`, quick(), json);
    expect(headers.get("ratelimit-policy")).toBe(
      '"minute";q=60;w=60, "engine-hour";q=300;w=3600, "engine-day";q=3600;w=86400',
    );
  });
});
