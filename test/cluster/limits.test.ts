import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { msUntil } from "../support/ms-until.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useRedis } from "../support/redis.ts";
import { type Served, serve } from "../support/served.ts";

const json = { "Content-Type": "application/json" };
/** To an engine each move of a game is another position: nobody shares a search or finds an answer. */
let moves = 0;
const nextFen = () => startFen.replace(/1$/, String((++moves % 9000) + 1));

describe("nodes with one Redis", () => {
  const redis = useRedis(["--appendonly", "yes"]);
  const plans = usePlansFile(
    {
      id: "keyless",
      limits: { concurrent: 2, movetime_ms_max: 60_000, rates: [rateOf("minute", 100_000, 60)] },
    },
    { id: "free", limits: { concurrent: 50, rates: [rateOf("minute", 100_000, 60)] } },
  );
  const startNodes = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        serve({
          KIBITZ_ACCESS: "public",
          KIBITZ_PLANS: plans,
          KIBITZ_SLOTS: "2",
          KIBITZ_TRUST_PROXY: "127.0.0.1",
          KIBITZ_REDIS_URL: redis.url,
        }),
      ),
    );
  const told = ({ logged }: Served, word: string) =>
    logged.filter(({ msg }) => msg.startsWith(`${word}:`)).length;

  test("a node that is killed gives its places back within 10 s", async () => {
    const [killed, other] = await startNodes(2);
    const caller = { ...json, "x-forwarded-for": "192.0.2.1" };
    const search = { depth: 20, multipv: 5, movetime_ms: 60_000 };
    const hold = async (fen: string): Promise<unknown> => {
      const answer = await post(`${killed?.url}/v1/eval`, { ...search, fen }, caller).catch(() => undefined);
      // A machine that has no time for the node is another matter: here it has several nodes.
      return answer?.body.code === "overloaded" ? hold(fen) : answer;
    };
    const long = [1, 2].map(() => hold(nextFen()));
    // Whoever asks before that may have one of the two places, and one of these is refused.
    const places = () => {
      const words = ["zcard", "kibitz:places:192.0.2.1"];
      return execFileSync("redis-cli", ["-p", String(redis.port), ...words], { encoding: "utf8" }).trim();
    };
    await expect.poll(places, { timeout: 20_000 }).toBe("2");
    const ask = () => post(`${other?.url}/v1/eval`, { fen: nextFen(), depth: 1 }, caller);
    await expect.poll(async () => (await ask()).body.code, { timeout: 20_000 }).toBe("concurrency_limited");
    await killed?.stop("SIGKILL");
    const [tookMs] = await Promise.all([msUntil(async () => (await ask()).status === 200), ...long]);
    expect(tookMs).toBeGreaterThan(1000);
    expect(tookMs).toBeLessThan(10_000);
  });

  test("a minute without Redis fails no search and lets none wait, and is over by itself within 5 s", async () => {
    const nodes = await startNodes(2);
    const [one] = nodes;
    // Has no Redis at all: whatever it takes longer for, is the machine's matter.
    const alone = await serve({ KIBITZ_SLOTS: "2" });
    const newKey = async (address: string) => {
      const { body } = await post(`${one?.url}/v1/keys`, {}, { ...json, "x-forwarded-for": address });
      return { authorization: `Bearer ${body.key}` };
    };
    const [known, unknown] = [await newKey("192.0.2.2"), await newKey("192.0.2.3")];
    const ask = async (
      node: Served,
      headers: Readonly<Record<string, string>>,
    ): Promise<{ status: number; said: unknown; tookMs: number }> => {
      const { url } = node;
      const startedAt = performance.now();
      const { status, body } = await post(
        `${url}/v1/eval`,
        { fen: nextFen(), depth: 1 },
        { ...json, ...headers },
      ).catch((error: unknown) => {
        const last = JSON.stringify(node.logged.at(-1));
        throw new Error(`${url} ${node.isRunning() ? "runs" : "has ended"}, and said last ${last}`, {
          cause: error,
        });
      });
      // A machine that has no time for the node is another matter: here it has several nodes.
      if (body.code === "overloaded") {
        return ask(node, headers);
      }
      return { status, said: body.detail ?? "an answer", tookMs: performance.now() - startedAt };
    };
    const askAll = () =>
      Promise.all(nodes.flatMap((node) => [ask(node, known), ask(node, { "x-forwarded-for": "192.0.2.4" })]));
    // From here on, and not from when Redis is gone, a key is known for a minute.
    const seenAt = performance.now();
    await askAll();

    const before = nodes.map((node) => [told(node, "degraded"), told(node, "recovered")]);
    await redis.kill();
    const answers: { said: unknown; tookMs: number }[] = [];
    const waitedMs: number[] = [];
    while (performance.now() - seenAt < 55_000) {
      const [withoutIt, ...round] = await Promise.all([ask(alone, {}), askAll()]).then((all) => all.flat());
      answers.push(...round);
      waitedMs.push(...round.map(({ tookMs }) => tookMs - (withoutIt?.tookMs ?? 0)));
      await sleep(200);
    }
    expect(answers.length).toBeGreaterThan(100);
    expect(new Set(answers.map(({ said }) => said))).toEqual(new Set(["an answer"]));
    // What notices that it is gone waits for it, and nothing after that.
    expect(Math.max(...waitedMs)).toBeLessThan(2000);
    expect(waitedMs.toSorted((a, b) => a - b)[Math.floor(waitedMs.length / 2)]).toBeLessThan(200);
    for (const node of nodes) {
      expect((await get(`${node.url}/readyz`)).body).toEqual({ status: "ready", degraded: ["store"] });
      expect((await ask(node, unknown)).status).toBe(503);
    }

    await redis.restart();
    const back = nodes.map((node) => msUntil(async () => (await ask(node, unknown)).status === 200));
    expect(Math.max(...(await Promise.all(back)))).toBeLessThan(5000);
    await fetch(`${one?.url}/v1/keys/self`, { method: "DELETE", headers: known });
    for (const [index, node] of nodes.entries()) {
      await expect.poll(async () => (await ask(node, known)).status).toBe(401);
      expect((await get(`${node.url}/readyz`)).body).toEqual({ status: "ready" });
      const [degraded = 0, recovered = 0] = before[index] ?? [];
      expect([told(node, "degraded"), told(node, "recovered")]).toEqual([degraded + 1, recovered + 1]);
    }
  }, 240_000);
});
