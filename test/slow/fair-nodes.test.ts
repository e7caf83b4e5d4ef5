import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { post } from "../contract/doors/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { useNodes } from "../support/running-app.ts";

const json = { "Content-Type": "application/json" };

describe("a thousand requests of one caller that wait at two nodes", () => {
  const settings = { KIBITZ_SLOTS: "1", KIBITZ_QUEUE_MAX_WAIT_MS: "600000", KIBITZ_TRUST_PROXY: "127.0.0.1" };
  const nodes = useNodes(settings, ...[1, 2].map(() => ({ engines: createEnginesInProcess() })));
  const searchMs = 400;
  const slow = { depth: 30, movetime_ms: searchMs };
  /** To an engine each move of a game is another position. */
  const at = (move: number) => startFen.replace(/1$/, String(move));

  test("delay the first one of another caller by one search at most", async () => {
    const leaving = new AbortController();
    const flood = nodes.flatMap(({ url }, node) =>
      Array.from({ length: 500 }, (_, index) =>
        fetch(`${url}/v1/eval`, {
          method: "POST",
          headers: { ...json, "x-forwarded-for": "192.0.2.1" },
          body: JSON.stringify({ fen: at(1 + 500 * node + index), ...slow }),
          signal: leaving.signal,
        }).catch(() => undefined),
      ),
    );
    try {
      await sleep(1500);
      for (const [index, { url }] of nodes.entries()) {
        const { body } = await post(
          `${url}/v1/eval`,
          { fen: at(2000 + index), ...slow },
          {
            ...json,
            "x-forwarded-for": "192.0.2.2",
          },
        );
        expect(body.search).toMatchObject({ queue_ms: expect.any(Number) });
        expect((body.search as { queue_ms: number }).queue_ms).toBeLessThan(searchMs * 1.5);
      }
    } finally {
      leaving.abort();
      await Promise.all(flood);
    }
  });
});
