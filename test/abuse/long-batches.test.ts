import { expect, test } from "vitest";
import { watchHealth } from "./health-watch.ts";
import { startFen, useService } from "./started-service.ts";

const service = useService();

/** Longest game that a request may tell, in plies: 600. */
const shuffle = Array.from({ length: 149 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();

test.each([
  ["are over", { moves: shuffle }, (item: Item) => item.result !== null],
  ["are not legal", { moves: [...shuffle, "a1a1"] }, (item: Item) => item.problem?.code === "illegal_move"],
  [
    "would be answered at another depth",
    { moves: shuffle, depth: 5_000_000_000 },
    (item: Item) => item.problem?.suggested_request?.depth === 30,
  ],
])(
  "32: batches of 200 long games that %s leave the thread to others now and again",
  async (_, request, asWanted) => {
    const requests = Array.from({ length: 200 }, () => ({ fen: startFen, ...request }));
    const stop = await watchHealth(service);
    const batches = await Promise.all([1, 2, 3].map(() => service.post("/v1/eval/batch", { requests })));
    const health = await stop();
    for (const { status, body } of batches) {
      expect(status).toBe(200);
      expect((JSON.parse(body) as Item[]).filter(asWanted)).toHaveLength(200);
    }
    expect(health.failed).toBe(0);
    // Reading a body of a megabyte is done in one go.
    expect(health.p99Ms).toBeLessThan(100);
  },
);

interface Item {
  readonly result: object | null;
  readonly problem: {
    readonly code: string;
    readonly suggested_request: { readonly depth: number } | null;
  } | null;
}
