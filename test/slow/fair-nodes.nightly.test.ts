import { expect, test } from "vitest";
import { startFen } from "../contract/protocols/cases/case.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { until } from "../support/redis.ts";
import { useNodes } from "../support/running-app.ts";

const settings = { KIBITZ_SLOTS: "1", KIBITZ_QUEUE_MAX_WAIT_MS: "600000", KIBITZ_TRUST_PROXY: "127.0.0.1" };
const engines = [createEnginesInProcess(), createEnginesInProcess()];
const nodes = useNodes(settings, ...engines.map((own) => ({ engines: own })));

/** The move number of the next request. Each request has a new position, so no answer is in the cache. */
let moveNumber = 0;

const ask = (url: string, path: string, caller: string, signal: AbortSignal) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "x-forwarded-for": caller },
    body: JSON.stringify({ fen: startFen.replace(/1$/, String(++moveNumber)), depth: 30, movetime_ms: 400 }),
    signal,
  });

/** Requests a search of 400 ms as a stream. @returns the text of the events */
async function stream(url: string, caller: string, signal: AbortSignal): Promise<AsyncIterable<string>> {
  const response = await ask(url, "/v1/eval/stream", caller, signal);
  expect(response.status).toBe(200);
  return response.body?.pipeThrough(new TextDecoderStream()) as AsyncIterable<string>;
}

/** Returns the queue position in the first event of a stream, or 0 if the event has none. */
async function firstQueuePosition(events: AsyncIterable<string>): Promise<number> {
  for await (const event of events) {
    return Number(/"place": ?(\d+)/.exec(event)?.[1] ?? 0);
  }
  throw new Error("the stream has no event");
}

test("a caller's first request is put first in the queue while 1,000 requests from another caller wait at two nodes", async () => {
  const leaving = new AbortController();
  const flood = nodes.flatMap(({ url }) =>
    Array.from({ length: 500 }, () => ask(url, "/v1/eval", "192.0.2.1", leaving.signal)),
  );
  const flooded = Promise.allSettled(flood);
  try {
    for (const [index, { url }] of nodes.entries()) {
      await until(
        async () => firstQueuePosition(await stream(url, "192.0.2.1", leaving.signal)),
        (place) => place > 400,
        60_000,
      );
      const begunBefore = engines[index]?.begun ?? 0;
      let said = "";
      for await (const event of await stream(url, "192.0.2.2", leaving.signal)) {
        said += event;
      }
      expect(said).toMatch(/^event: queued\ndata: \{"place": ?1,/);
      expect(said).toContain("event: done");
      // At most three searches start: the search of the second caller, one search before it, and one while its answer was sent.
      expect((engines[index]?.begun ?? 0) - begunBefore).toBeLessThanOrEqual(3);
    }
  } finally {
    leaving.abort();
    await flooded;
  }
});
