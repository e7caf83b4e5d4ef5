import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { grpc } from "./clients/grpc.ts";
import { json } from "./clients/json.ts";
import type { Door, Plain } from "./door.ts";

/** From the second time on a request is remembered, from the third on it is the one that was remembered. */
const times = 4;

const plans = usePlansFile({ id: "keyless", limits: { depth_max: 15 } }, { id: "free", limits: {} });
const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }, { engines: createEnginesInProcess() });

describe.each([json, grpc])("what is known through $name", (kind) => {
  let door: Door;
  beforeAll(() => {
    door = kind.open(app.url);
  });
  afterAll(() => door[Symbol.asyncDispose]());

  test("a known request is checked against the plan of each caller", async () => {
    const created = await door.call("createKey", {});
    const authorization = { authorization: `Bearer ${(created as { answer: Plain }).answer.key}` };
    const request = { fen: "8/8/8/8/8/5k2/6q1/7K w - - 0 1", depth: 16 };
    const asked: string[] = [];
    for (let time = 0; time < times; time++) {
      for (const headers of [authorization, {}]) {
        const outcome = await door.call("evaluate", request, headers);
        asked.push(outcome.kind === "answer" ? "answer" : outcome.refusal.code);
      }
    }
    expect(asked).toEqual(Array.from({ length: times }, () => ["answer", "upgrade_needed"]).flat());
  });

  test("a request with other words is another request, however similar", async () => {
    const fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for (let time = 0; time < times; time++) {
      for (const depth of [3, 4, 5]) {
        const outcome = await door.call("evaluate", { fen, depth });
        const { search } = (outcome as { answer: Plain }).answer as {
          readonly search: { readonly depth: number };
        };
        expect(search.depth).toBe(depth);
      }
    }
  });
});
