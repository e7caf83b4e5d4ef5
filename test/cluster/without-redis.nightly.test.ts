import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { startFen } from "../contract/protocols/cases/case.ts";
import { get, post } from "../contract/protocols/post.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useRedis } from "../support/redis.ts";
import { type Served, serve } from "../support/served.ts";
import { startStopwatch } from "../support/stopwatch.ts";

describeWith("redis")("two nodes with one Redis", () => {
  const redis = useRedis(["--appendonly", "yes"]);
  const plans = usePlansFile(
    { id: "keyless", limits: { concurrent: 50, rates: [rateOf("minute", 100_000, 60)] } },
    { id: "free", limits: { concurrent: 50, rates: [rateOf("minute", 100_000, 60)] } },
  );

  test("in a minute without Redis no search fails or waits for more than 0.5 s, and each node logs the outage and the recovery once", async () => {
    const { KIBITZ_PORT: _, ...settings } = waitingEngineSettings();
    const start = () =>
      serve({
        ...settings,
        PATH: process.env.PATH ?? "",
        KIBITZ_ACCESS: "public",
        KIBITZ_PLANS: plans,
        KIBITZ_SLOTS: "2",
        KIBITZ_TRUST_PROXY: "127.0.0.1",
        KIBITZ_REDIS_URL: redis.url,
      });
    const nodes = await Promise.all([start(), start()]);
    const [one] = nodes;
    const from = (address: string) => ({ "Content-Type": "application/json", "x-forwarded-for": address });
    const newKey = async (address: string) => {
      const { body } = await post(`${one?.url}/v1/keys`, {}, from(address));
      return { "Content-Type": "application/json", authorization: `Bearer ${body.key}` };
    };
    const [known, unknown] = [await newKey("192.0.2.2"), await newKey("192.0.2.3")];
    /** Each request has a different move number, so every request starts a new search. */
    let move = 0;
    const ask = async ({ url, pid }: Served, headers: Readonly<Record<string, string>>) => {
      const elapsedMs = startStopwatch(process.pid, pid);
      const fen = startFen.replace(/1$/, String((++move % 9000) + 1));
      const { status, body } = await post(`${url}/v1/eval`, { fen, depth: 1 }, headers);
      return { status, said: body.detail ?? "an answer", tookMs: elapsedMs() };
    };
    const askAll = () =>
      Promise.all(nodes.flatMap((node) => [ask(node, known), ask(node, from("192.0.2.4"))]));
    const count = ({ logged }: Served, word: string) =>
      logged.filter(({ msg }) => msg.startsWith(`${word}:`)).length;
    const counts = () => nodes.map((node) => [count(node, "degraded"), count(node, "recovered")]);

    // The nodes accept the key from memory for a minute after this look-up.
    const seenAt = performance.now();
    const answered = (await askAll()).map(({ said }) => said);
    expect(new Set(answered)).toEqual(new Set(["an answer"]));
    const before = counts();
    await redis.kill();
    const answers: { readonly said: unknown; readonly tookMs: number }[] = [];
    while (performance.now() - seenAt < 55_000) {
      answers.push(...(await askAll()));
      await sleep(200);
    }
    expect(new Set(answers.map(({ said }) => said))).toEqual(new Set(["an answer"]));
    const tookMs = answers.map((answer) => answer.tookMs).toSorted((a, b) => a - b);
    expect(tookMs.length).toBeGreaterThan(100);
    expect(tookMs[Math.floor(tookMs.length / 2)], "the median").toBeLessThan(100);
    expect(tookMs.at(-1), "the worst").toBeLessThan(600);
    for (const node of nodes) {
      expect((await get(`${node.url}/readyz`)).body).toEqual({ status: "ready", degraded: ["store"] });
      expect((await ask(node, unknown)).status).toBe(503);
    }

    await redis.restart();
    for (const node of nodes) {
      await expect.poll(async () => (await ask(node, unknown)).status).toBe(200);
    }
    await fetch(`${one?.url}/v1/keys/self`, { method: "DELETE", headers: known });
    for (const node of nodes) {
      await expect.poll(async () => (await ask(node, known)).status).toBe(401);
      expect((await get(`${node.url}/readyz`)).body).toEqual({ status: "ready" });
    }
    expect(counts()).toEqual(before.map(([degraded = 0, recovered = 0]) => [degraded + 1, recovered + 1]));
  });
});
