import { describe, expect, test } from "vitest";
import { builtInPlans, freePlan, keylessPlan } from "../../src/access/plans.ts";
import { plansFromJson } from "../../src/access/read-plans.ts";

const read = (...plans: readonly unknown[]) => plansFromJson(JSON.stringify({ plans }));

describe("a file of plans", () => {
  test("that says nothing leaves the built-in ones", () => {
    expect(read()).toEqual({ kind: "plans", plans: builtInPlans });
  });

  test("changes what it names, and leaves the rest", () => {
    expect(read({ id: "keyless", limits: { depth_max: 18, concurrent: null } })).toEqual({
      kind: "plans",
      plans: [
        { ...keylessPlan, limits: { ...keylessPlan.limits, depthMax: 18, concurrent: undefined } },
        freePlan,
      ],
    });
  });

  test("adds plans, which start from free", () => {
    const rates = [{ name: "day", quota: 1000, window_s: 86_400, unit: "request" }];
    expect(read({ id: "gold", limits: { rates } })).toEqual({
      kind: "plans",
      plans: [
        keylessPlan,
        freePlan,
        {
          id: "gold",
          requiresKey: true,
          limits: {
            ...freePlan.limits,
            rates: [{ name: "day", quota: 1000, windowS: 86_400, unit: "request" }],
          },
        },
      ],
    });
  });

  const rate = { name: "minute", quota: 5, window_s: 60, unit: "request" };
  const rates = (...all: readonly unknown[]) => read({ id: "free", limits: { rates: all } });
  test.each([
    [plansFromJson("{"), "", /not JSON/],
    [plansFromJson("[]"), "", /must be an object/],
    [plansFromJson("{}"), "/plans", /must be a list/],
    [plansFromJson('{"plans": [], "a/b": 1}'), "/a~1b", /not known here; the keys are plans/],
    [read(7), "/plans/0", /must be an object/],
    [read({}), "/plans/0/id", /must be a word/],
    [read({ id: "Gold Plan" }), "/plans/0/id", /must be a word/],
    [read({ id: "free" }, { id: "free" }), "/plans/1/id", /a second time/],
    [read({ id: "free", requires_key: false }), "/plans/0/requires_key", /only keyless needs none/],
    [
      read({ id: "free", limits: { depth: 3 } }),
      "/plans/0/limits/depth",
      /depth_max, multipv_max|did you mean depth_max/,
    ],
    [read({ id: "free", limits: { depth_max: 31 } }), "/plans/0/limits/depth_max", /14 to 30, not 31/],
    [read({ id: "free", limits: { depth_max: 13 } }), "/plans/0/limits/depth_max", /14 to 30, not 13/],
    [read({ id: "free", limits: { multipv_max: "5" } }), "/plans/0/limits/multipv_max", /not "5"/],
    [read({ id: "free", limits: { movetime_ms_max: 1.5 } }), "/plans/0/limits/movetime_ms_max", /not 1.5/],
    [read({ id: "free", limits: { concurrent: 0 } }), "/plans/0/limits/concurrent", /1 to 10000/],
    [read({ id: "free", limits: { rates: {} } }), "/plans/0/limits/rates", /must be a list/],
    [rates({ ...rate, name: 'a"b' }), "/plans/0/limits/rates/0/name", /must be a word/],
    [rates({ ...rate, quota: 0 }), "/plans/0/limits/rates/0/quota", /1 to/],
    [rates({ ...rate, window_s: 9e9 }), "/plans/0/limits/rates/0/window_s", /1 to 2000000/],
    [rates({ ...rate, unit: "calls" }), "/plans/0/limits/rates/0/unit", /"request" or "engine_ms"/],
    [rates(rate, rate), "/plans/0/limits/rates/1/name", /a second time/],
  ])("%# is refused with the place of what is wrong", (reading, pointer, message) => {
    expect(reading).toEqual({
      kind: "faults",
      faults: [{ pointer, message: expect.stringMatching(message) }],
    });
  });

  test("tells all that is wrong at once", () => {
    const reading = read(
      { id: "free", limit: {}, limits: { depth_max: 31, rates: [{ ...rate, quota: 0, unit: "calls" }] } },
      { id: "No Name", limits: { concurrent: "many" } },
    );
    expect(reading.kind === "faults" && reading.faults.map(({ pointer }) => pointer)).toEqual([
      "/plans/0/limit",
      "/plans/0/limits/depth_max",
      "/plans/0/limits/rates/0/quota",
      "/plans/0/limits/rates/0/unit",
      "/plans/1/id",
      "/plans/1/limits/concurrent",
    ]);
  });
});
