import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { post } from "../../contract/protocols/post.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";
import { serve } from "../../support/served.ts";

describeWith("redis")("two processes with one Redis", () => {
  const redis = useRedis();
  const connect = useConnections(redis);

  test("a process that gets SIGTERM while a call waits for a search of another process answers the call, and exits with 0", async () => {
    const settings = { KIBITZ_REDIS_URL: redis.url, KIBITZ_SLOTS: "1" };
    const [searching, waiting] = [await serve(settings), await serve(settings)];
    const store = await connect("kibitz:");
    const request = { fen: startFen, depth: 30, multipv: 4, movetime_ms: 45_000 };
    post(`${searching.url}/v1/eval`, request).catch(() => {});
    await until(
      () => store.ask("KEYS", ["claim:*"]),
      (claims) => Array.isArray(claims) && claims.length === 1,
    );
    const answer = post(`${waiting.url}/v1/eval`, request);
    // The other process only polls Redis while it waits.
    await sleep(1000);
    expect(await waiting.stop()).toBe(0);
    const { status, body } = await answer;
    expect([status, body.code]).toEqual([503, "shutting_down"]);
    expect(waiting.logged).toContainEqual(expect.objectContaining({ msg: "call", code: "shutting_down" }));
  });
});
