import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createRandom } from "../support/random.ts";
import { post } from "./ask.ts";
import { envelope, matedFen, rpcOf } from "./calls.ts";
import { mib, watchHealth } from "./health-watch.ts";
import { descriptorsOf, vitalsOf } from "./processes-of.ts";
import { open, rawRequest } from "./raw-http.ts";
import { startFen, useService } from "./started-service.ts";

/**
 * In a heap that is scarce V8 collects every few seconds. By itself it lets a minute pass, and memory then swings by
 * 70 MiB whether anything leaks or not.
 */
const service = useService({ KIBITZ_CACHE_ENTRIES: "1000", NODE_OPTIONS: "--max-old-space-size=80" });

const soakMs = 60_000;
/** Until then, caches fill and V8 finds the size of its heap. */
const warmUpMs = 20_000;
/** What the middle of the last third may have more than that of the first, after the warm-up. */
const growthMaxMib = 16;
const descriptorsMaxMore = 10;

const fens = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { fen: string } => JSON.parse(line))
  .map(({ fen }) => fen);

/** What callers do, good and bad, all day long. */
function createWork(random: ReturnType<typeof createRandom>): () => Promise<unknown> {
  const works: readonly (() => Promise<unknown>)[] = [
    () => service.post("/v1/eval", { fen: random.pick(fens), depth: 1 + random.below(8) }),
    () => service.post("/v1/bestmove", { fen: random.pick(fens), movetime_ms: 50 + random.below(50) }),
    () => service.post("/v1/eval", { fen: startFen, depth: 6, options: { skill_level: random.below(20) } }),
    () => service.post("/v1/eval/stream", { fen: random.pick(fens), depth: 6 }),
    () => service.post("/v1/eval/batch", { requests: Array.from({ length: 20 }, () => ({ fen: matedFen })) }),
    () => service.post(rpcOf("Evaluate"), { fen: random.pick(fens), depth: 5 }),
    () =>
      service.post(
        rpcOf("StreamEvaluate"),
        envelope(Buffer.from(JSON.stringify({ fen: startFen, depth: 5 }))),
        {
          "Content-Type": "application/connect+json",
        },
      ),
    () => service.post("/v1/eval", '{"fen":'),
    () => service.post("/v1/eval", " ".repeat(100_000)),
    () => service.get("/engines"),
    () => service.get(`/nope/${random.below(1e9)}`),
    () => service.get("/price", { Authorization: `Bearer kbz_${random.below(1e9)}` }),
    () =>
      post(
        `${service.url}/v1/eval`,
        { fen: startFen, depth: 30 },
        {},
        AbortSignal.timeout(100 + random.below(100)),
      ).catch(() => "left"),
    async () => {
      const { socket } = await open(service.port);
      socket.write(
        rawRequest("POST /v1/eval", ["Content-Type: application/json", "Content-Length: 1000"], "{"),
      );
      socket.resetAndDestroy();
    },
  ];
  return () => random.pick(works)();
}

const middleOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

test("26: a minute of mixed load leaves memory and descriptors flat", async () => {
  const stop = await watchHealth(service);
  const endsAt = performance.now() + soakMs;
  let done = 0;
  const client = async (seed: number) => {
    const work = createWork(createRandom(seed));
    while (performance.now() < endsAt) {
      await work();
      done++;
    }
  };
  const samples: { atMs: number; rssBytes: number; descriptors: number }[] = [];
  const startedAt = performance.now();
  const sampling = setInterval(() => {
    const { pid } = service;
    const { rssBytes } = vitalsOf(pid);
    samples.push({ atMs: performance.now() - startedAt, rssBytes, descriptors: descriptorsOf(pid).length });
  }, 500);
  await Promise.all([1, 2, 3, 4].map(client));
  clearInterval(sampling);
  const health = await stop();

  const warm = samples.filter(({ atMs }) => atMs > warmUpMs);
  const third = Math.floor(warm.length / 3);
  const growthOf = (pick: (sample: (typeof samples)[number]) => number) =>
    middleOf(warm.slice(-third).map(pick)) - middleOf(warm.slice(0, third).map(pick));
  const grownMib = growthOf(({ rssBytes }) => rssBytes) / mib;
  const moreDescriptors = growthOf(({ descriptors }) => descriptors);
  console.log(
    `soak: ${done} calls, memory ${grownMib.toFixed(1)} MiB, descriptors ${moreDescriptors}, probe p99 ${health.p99Ms} ms`,
  );
  expect(done).toBeGreaterThan(500);
  expect(grownMib).toBeLessThan(growthMaxMib);
  expect(moreDescriptors).toBeLessThanOrEqual(descriptorsMaxMore);
  expect(health.failed).toBe(0);
  expect(health.p99Ms).toBeLessThan(250);
}, 120_000);
