import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";

/** With a key, a search may take a minute. */
const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess({ quickPlies: 10 }) });

test("Retry-After of too many searches at a time is the time that they are expected to take, not the longest", async () => {
  const { body } = await post(`${app.url}/v1/keys`, {});
  const leaving = new AbortController();
  const refused: Response[] = [];
  const asked = [1, 2, 3, 4, 5, 6].map(async (multipv) => {
    const response = await fetch(`${app.url}/v1/eval`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${body.key}` },
      body: JSON.stringify({ fen: startFen, depth: 14, multipv }),
      signal: leaving.signal,
    });
    refused.push(response);
  });
  await expect.poll(() => refused.length, { timeout: patienceMs }).toBe(2);
  for (const response of refused) {
    expect([response.status, await response.json()]).toMatchObject([429, { code: "concurrency_limited" }]);
    expect(response.headers.get("retry-after")).toMatch(/^[1-5]$/);
  }
  leaving.abort();
  await Promise.allSettled(asked);
});
