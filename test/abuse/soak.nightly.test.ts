import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { envelope } from "../support/envelope.ts";
import { createRandom } from "../support/random.ts";
import { open, rawRequest } from "../support/raw-http.ts";
import { post } from "./ask.ts";
import { matedFen, rpcOf } from "./calls.ts";
import { expectUnharmed, mib, watchHealth } from "./health-watch.ts";
import { descriptorsOf } from "./processes-of.ts";
import { startFen, useService } from "./started-service.ts";

const liveBytesFile = join(mkdtempSync(join(tmpdir(), "kibitz-soak-")), "live-bytes");
afterAll(() => rmSync(dirname(liveBytesFile), { recursive: true }));

const service = useService({
  // A small cache is full at the end of the warm-up.
  KIBITZ_CACHE_MB: "1",
  NODE_OPTIONS: `--import ${new URL("heap-on-signal.ts", import.meta.url)}`,
  LIVE_BYTES_FILE: liveBytesFile,
});

const soakMs = 60_000;
/** Before the first measurement, the caches of the service must be full and V8 must have compiled its functions. */
const warmUpMs = 20_000;
/**
 * The maximum growth of the live heap. The size of the process is not tested, because it varies by 70 MiB without a leak. `npm
 * run soak` finds smaller leaks.
 */
const liveMaxMore = 2 * mib;
const descriptorsMaxMore = 10;

async function liveBytes(): Promise<number> {
  rmSync(liveBytesFile, { force: true });
  process.kill(service.pid, "SIGUSR2");
  return vi.waitFor(
    () => {
      const bytes = Number(readFileSync(liveBytesFile, "utf8"));
      expect(bytes).toBeGreaterThan(0);
      return bytes;
    },
    { timeout: 10_000, interval: 20 },
  );
}

const fens = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { fen: string } => JSON.parse(line))
  .map(({ fen }) => fen);

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

async function workUntil(endsAt: number, seed: number): Promise<number> {
  let done = 0;
  const client = async (number: number) => {
    const work = createWork(createRandom(seed + number));
    while (performance.now() < endsAt) {
      await work();
      done++;
    }
  };
  await Promise.all([1, 2, 3, 4].map(client));
  return done;
}

test("the memory and the number of descriptors do not grow during a minute of mixed load", async () => {
  const startedAt = performance.now();
  const warmingUp = await workUntil(startedAt + warmUpMs, 0);
  const before = { bytes: await liveBytes(), descriptors: descriptorsOf(service.pid).length };
  const stop = await watchHealth(service);
  const done = await workUntil(startedAt + soakMs, 10);
  const health = await stop();
  const grownBytes = (await liveBytes()) - before.bytes;
  const moreDescriptors = descriptorsOf(service.pid).length - before.descriptors;
  console.log(
    `measured: soak: ${warmingUp} and ${done} calls, ${(grownBytes / mib).toFixed(2)} MiB more live, descriptors ${moreDescriptors}, probe p99 ${health.p99Ms} ms`,
  );
  expect(done).toBeGreaterThan(500);
  expect(grownBytes).toBeLessThan(liveMaxMore);
  expect(moreDescriptors).toBeLessThanOrEqual(descriptorsMaxMore);
  expectUnharmed(health);
}, 120_000);
