import { expect, test } from "vitest";
import { startFen } from "../contract/protocols/cases/case.ts";
import { heads } from "../contract/protocols/heads.ts";
import { get, post } from "../contract/protocols/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { describeWith } from "../support/needs.ts";
import { until, useRedis } from "../support/redis.ts";
import { useApp } from "../support/running-app.ts";

/** The timeout of a request to Redis. */
const operationMaxMs = 1500;

describeWith("redis")("a node without Redis", () => {
  const redis = useRedis();
  const app = useApp(
    {
      KIBITZ_ACCESS: "public",
      get KIBITZ_REDIS_URL() {
        return redis.url;
      },
    },
    // Every request reads the key again. Normally, a key is read again after 3 seconds.
    { engines: createEnginesInProcess(), knownMs: 1, flushMs: 100, redis: { operationMaxMs } },
  );
  const quick = { fen: startFen, depth: 1 };
  const countOf = (word: string) =>
    app.logged.filter((line) => JSON.stringify(line).includes(`"message":"${word}:`)).length;
  const readiness = async () => (await get(`${app.url}/readyz`)).body;
  const newKey = async () => String((await post(`${app.url}/v1/keys`, {})).body.key);

  async function expectServing(known: string): Promise<void> {
    for (const kind of heads) {
      const keyless = await kind.ask(app.url, quick);
      const keyed = await kind.ask(app.url, quick, { authorization: `Bearer ${known}` });
      expect([kind.name, keyless.status, keyed.status]).toEqual([kind.name, kind.ok, kind.ok]);
    }
  }

  test("a node without Redis serves clients without keys and with recently used keys, and recovers when Redis returns", async () => {
    const [known, unknown] = [await newKey(), await newKey()];
    await expectServing(known);
    expect(await readiness()).toEqual({ status: "ready" });

    redis.pause();
    await expectServing(known);
    expect(await readiness()).toEqual({ status: "ready", degraded: ["store"] });
    const headers = { authorization: `Bearer ${unknown}` };
    for (const kind of heads.filter(({ errorsHaveHeaders }) => errorsHaveHeaders)) {
      const unavailable = kind.ok === 0 ? 14 : 503;
      expect([kind.name, (await kind.ask(app.url, quick, headers)).status]).toEqual([kind.name, unavailable]);
    }
    const refused = await post(`${app.url}/v1/eval`, quick, {
      "Content-Type": "application/json",
      ...headers,
    });
    expect(refused.body).toMatchObject({ code: "store_unavailable", retryable: true });
    expect((await post(`${app.url}/v1/keys`, {})).status).toBe(503);
    expect([countOf("degraded"), countOf("recovered")]).toEqual([1, 0]);

    redis.resume();
    await until(async () => (await readiness()).degraded === undefined);
    await expectServing(unknown);
    expect([countOf("degraded"), countOf("recovered")]).toEqual([1, 1]);

    await redis.kill();
    await expectServing(known);
    expect(await readiness()).toEqual({ status: "ready", degraded: ["store"] });
    await redis.restart();
    await until(async () => (await readiness()).degraded === undefined);
    expect([countOf("degraded"), countOf("recovered")]).toEqual([2, 2]);
  });
});
