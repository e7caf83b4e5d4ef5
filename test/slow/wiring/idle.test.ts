import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { testWith } from "../../support/needs.ts";
import { serve } from "../../support/served.ts";

/** Linux has it, and tells of each thread how often it went to sleep. */
const test = testWith("util-linux");

/** How often the thread of a process was woken, which is how often it went to sleep. */
function wakesOf(pid: number): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

async function wakesPerSecond(pid: number): Promise<number> {
  const seconds = 5;
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

/** What is begun when something was asked has ended. */
const calmMs = 3000;

// With a timer that looks at the event loop fifty times a second, and metrics that look a hundred times, it took a
// hundredth of a core.
test("who is asked nothing sleeps, metrics and all, before the first question and after it", async () => {
  const { url, pid } = await serve({
    KIBITZ_METRICS_PORT: String(await freePort()),
    KIBITZ_STORE_MB: "10",
    KIBITZ_PAGE: "on",
  });
  await sleep(calmMs);
  const before = await wakesPerSecond(pid);
  const status = await ask(url);
  // So many that it looks whether they make it late.
  const until = performance.now() + 1000;
  while (performance.now() < until) {
    await Promise.all(Array.from({ length: 20 }, () => ask(url)));
  }
  await sleep(calmMs);
  expect({ before, status, after: await wakesPerSecond(pid) }).toEqual({
    before: expect.toSatisfy((wakes: number) => wakes < 10),
    status: 200,
    after: expect.toSatisfy((wakes: number) => wakes < 10),
  });
});
