import { describe, expect, test } from "vitest";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { startFen, useService } from "./started-service.ts";

const modes: readonly [name: string, env: Readonly<Record<string, string>>][] = [
  ["open", {}],
  [
    "public",
    {
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: usePlansFile({
        id: "keyless",
        limits: { concurrent: 3, rates: [rateOf("minute", 1_000_000, 60)] },
      }),
    },
  ],
];

const shuffle = Array.from({ length: 149 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();

describe.each(modes)("with KIBITZ_ACCESS=%s", (mode, env) => {
  const service = useService(env);

  test.each([
    ["are over", { moves: shuffle }, (item: Item) => item.result !== null],
    ["are not legal", { moves: [...shuffle, "a1a1"] }, (item: Item) => item.problem?.code === "illegal_move"],
    [
      "would be answered at another depth",
      { moves: shuffle, depth: 5_000_000_000 },
      ({ problem }: Item) =>
        problem?.code === "out_of_range" &&
        problem.suggested_request?.depth === (mode === "open" ? 30 : undefined),
    ],
  ])(
    "batches of 200 long games that %s do not delay health probes by 100 ms",
    async (_, request, asWanted) => {
      const requests = Array.from({ length: 200 }, () => ({ fen: startFen, ...request }));
      const stop = await watchHealth(service);
      const batches = await Promise.all([1, 2, 3].map(() => service.post("/v1/eval/batch", { requests })));
      const health = await stop();
      for (const { status, body } of batches) {
        expect(status).toBe(200);
        expect((JSON.parse(body) as Item[]).filter(asWanted)).toHaveLength(200);
      }
      expectUnharmed(health);
    },
  );
});

interface Item {
  readonly result: object | null;
  readonly problem: {
    readonly code: string;
    readonly suggested_request: { readonly depth: number } | null;
  } | null;
}
