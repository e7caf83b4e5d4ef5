import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { testWith } from "../../support/needs.ts";
import { patienceMs } from "../../support/patience.ts";
import { serve } from "../../support/served.ts";

/** These tests need Linux, which counts how often each thread goes to sleep. */
const test = testWith("util-linux");

/** Returns how often the main thread of a process went to sleep. Each sleep ends with one wake-up. */
function wakesOf(pid: number): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

async function wakesPerSecond(pid: number): Promise<number> {
  const seconds = 2;
  const before = wakesOf(pid);
  await sleep(seconds * 1000);
  return (wakesOf(pid) - before) / seconds;
}

async function ask(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      fen: "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
      depth: 12,
    }),
  });
  await response.text();
  return response.status;
}

const expectIdle = (pid: number) =>
  expect.poll(() => wakesPerSecond(pid), { timeout: patienceMs }).toBeLessThan(10);

// If the server always measured the event loop, an idle server would use 1 % of a core.
test("an idle server with metrics wakes up fewer than ten times a second, before the first request and after many requests", async () => {
  const { url, pid } = await serve({
    KIBITZ_METRICS_PORT: String(await freePort()),
    KIBITZ_STORE_MB: "10",
    KIBITZ_PAGE: "on",
  });
  await expectIdle(pid);
  expect(await ask(url)).toBe(200);
  const until = performance.now() + 1000;
  while (performance.now() < until) {
    await Promise.all(Array.from({ length: 20 }, () => ask(url)));
  }
  await expectIdle(pid);
});
