import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startFen } from "../contract/protocols/cases/case.ts";
import { get, post } from "../contract/protocols/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { useApp } from "../support/running-app.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { lockDatabase } from "./lock-database.ts";

const folder = useTemporaryFolder();
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_DATA_DIR: folder,
    KIBITZ_CACHE_MB: "0",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
  },
  { engines: createEnginesInProcess(), flushMs: 100 },
);

let callers = 0;
/** Returns the headers of a new caller, so that no rate limit rejects the request. */
const asNewCaller = () => ({
  "Content-Type": "application/json",
  "X-Forwarded-For": `198.51.100.${++callers}`,
});

const evaluate = (index: number) =>
  post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 + (index % 10) }, asNewCaller());

/** Sends 40 requests with pauses. Returns the response times. */
const answersOf = (ask: (index: number) => Promise<{ readonly status: number }>) =>
  timesOf(40, async (index) => {
    await sleep(40);
    const stop = startStopwatch();
    expect((await ask(index)).status).toBe(200);
    return stop();
  });

test("a locked database delays probes and analyses by less than 100 ms, and creating a key fails after 5 s", async () => {
  for (let index = 0; index < 20; index++) {
    await evaluate(index);
  }
  const { release } = lockDatabase(folder);
  const refusals = Promise.all(
    Array.from({ length: 20 }, async () => {
      const stop = startStopwatch();
      const startedAt = performance.now();
      const { status } = await post(`${app.url}/v1/keys`, {}, asNewCaller());
      return { status, ms: stop(), elapsedMs: performance.now() - startedAt };
    }),
  );
  const probes = await answersOf(() => get(`${app.url}/healthz`));
  const analyses = await answersOf(evaluate);
  const refused = await refusals;
  release();

  expect(probes.medianMs).toBeLessThan(20);
  expect(probes.worstMs).toBeLessThan(100);
  expect(analyses.medianMs).toBeLessThan(40);
  expect(analyses.worstMs).toBeLessThan(100);
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503));
  // The server measures the 5 s with a timer, which also runs while a busy machine delays the server.
  expect(Math.min(...refused.map(({ elapsedMs }) => elapsedMs))).toBeGreaterThan(4800);
  expect(Math.max(...refused.map(({ ms }) => ms))).toBeLessThan(5500);
});
