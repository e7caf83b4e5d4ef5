import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInPlans, freePlan, keylessPlan, openPlan, type Plan } from "../../src/access/plans.ts";
import { requestBounds } from "../../src/analysis/analysis.ts";
import { loadPlans, plansFromJson, shownPlans } from "../../src/wiring/plans.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const read = (...plans: readonly unknown[]) => plansFromJson(JSON.stringify({ plans }));

describe("a plans file", () => {
  test("an empty plans file keeps the built-in plans", () => {
    expect(read()).toEqual({ kind: "plans", plans: builtInPlans });
    expect(read({ id: "free" }, { id: "keyless", limits: {} })).toEqual({
      kind: "plans",
      plans: builtInPlans,
    });
  });

  test("a plans file changes only the values that the file contains", () => {
    expect(read({ id: "keyless", limits: { depth_max: 18, concurrent: null } })).toEqual({
      kind: "plans",
      plans: [
        { ...keylessPlan, limits: { ...keylessPlan.limits, depthMax: 18, concurrent: undefined } },
        freePlan,
      ],
    });
  });

  test("a new plan in a plans file has the values of the free plan by default", () => {
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

  test("a plans file can remove the limit of concurrent searches by null, and all rate limits by an empty list", () => {
    const reading = read({ id: "free", limits: { concurrent: null, rates: [] } });
    expect(reading.kind === "plans" && reading.plans[1]?.limits).toMatchObject({
      concurrent: undefined,
      rates: [],
    });
  });

  const rate = { name: "minute", quota: 5, window_s: 60, unit: "request" };
  const rates = (...all: readonly unknown[]) => read({ id: "free", limits: { rates: all } });
  const limits = (some: unknown) => read({ id: "free", limits: some });
  test.each([
    [plansFromJson("{"), "", /^The file is cut off: .* line 1, column 2/],
    [plansFromJson('{"plans": [} '), "", /^The file is not JSON: .* line 1, column 12/],
    [plansFromJson('{"plans": [], "plans": []}'), "/plans", /`plans` appears more than once/],
    [plansFromJson("[]"), "", /must be a JSON object/],
    [plansFromJson("{}"), "/plans", /must be a list/],
    [plansFromJson('{"plans": [], "a/b": 1}'), "/a~1b", /no field `a\/b` here: the fields are `plans`/],
    [read(7), "/plans/0", /must be an object, not 7/],
    [read({}), "/plans/0/id", /`id` must be a word/],
    [read({ id: "Gold Plan" }), "/plans/0/id", /must be a word.*, not "Gold Plan"/],
    [read({ id: null }), "/plans/0/id", /must be a word/],
    [read({ id: 7 }), "/plans/0/id", /must be a word.*, not 7/],
    [read({ id: "free" }, { id: "free" }), "/plans/1/id", /"free" has been described already/],
    [
      read({ id: "free", requires_key: false }),
      "/plans/0/requires_key",
      /must be true.*only keyless needs no key/,
    ],
    [read({ id: "free", requires_key: "yes" }), "/plans/0/requires_key", /must be true/],
    [limits(7), "/plans/0/limits", /`limits` must be an object, not 7/],
    [limits(null), "/plans/0/limits", /`limits` must be an object, not null/],
    [limits({ depth: 3 }), "/plans/0/limits/depth", /no field `depth` here/],
    [limits({ dept_max: 3 }), "/plans/0/limits/dept_max", /did you mean `depth_max`/],
    [limits({ depth_max: 31 }), "/plans/0/limits/depth_max", /from \d+ to 30, not 31/],
    [
      limits({ depth_max: requestBounds.depth.default - 1 }),
      "/plans/0/limits/depth_max",
      /from \d+ to 30, not \d+/,
    ],
    [limits({ depth_max: 0 }), "/plans/0/limits/depth_max", /from \d+ to 30, not 0/],
    [limits({ depth_max: null }), "/plans/0/limits/depth_max", /from \d+ to 30, not null/],
    [limits({ nodes_max: 0 }), "/plans/0/limits/nodes_max", /from 1 to 1000000000, not 0/],
    [
      limits({ nodes_max: 1_000_000_001 }),
      "/plans/0/limits/nodes_max",
      /from 1 to 1000000000, not 1000000001/,
    ],
    [limits({ nodes_max: "5" }), "/plans/0/limits/nodes_max", /from 1 to 1000000000, not "5"/],
    [limits({ nodes_max: null }), "/plans/0/limits/nodes_max", /from 1 to 1000000000, not null/],
    [limits({ multipv_max: "5" }), "/plans/0/limits/multipv_max", /from 1 to 10, not "5"/],
    [limits({ movetime_ms_max: 1.5 }), "/plans/0/limits/movetime_ms_max", /from 50 to 60000, not 1.5/],
    [limits({ batch_max: 100 }), "/plans/0/limits/batch_max", /follows from `rates`, and is 200 here/],
    [limits({ batch_max: "100" }), "/plans/0/limits/batch_max", /must be an integer/],
    [limits({ concurrent: 0 }), "/plans/0/limits/concurrent", /1 to 10000, or null/],
    [limits({ rates: {} }), "/plans/0/limits/rates", /must be a list/],
    [limits({ rates: null }), "/plans/0/limits/rates", /must be a list, not null/],
    [rates(7), "/plans/0/limits/rates/0", /must be an object/],
    [rates({ ...rate, per: "minute" }), "/plans/0/limits/rates/0/per", /no field `per` here/],
    [rates({ ...rate, name: 'a"b' }), "/plans/0/limits/rates/0/name", /must be a word/],
    [rates({ ...rate, quota: 0 }), "/plans/0/limits/rates/0/quota", /from 1 to/],
    [rates({ ...rate, quota: undefined }), "/plans/0/limits/rates/0/quota", /from 1 to.*, not absent/],
    [rates({ ...rate, window_s: 9e9 }), "/plans/0/limits/rates/0/window_s", /1 to 2000000/],
    [
      rates({ ...rate, unit: "calls" }),
      "/plans/0/limits/rates/0/unit",
      /one of request, engine_ms, refusal, call.*, not "calls"/,
    ],
    [rates(rate, rate), "/plans/0/limits/rates/1/name", /a rate "minute" already/],
    [read({ id: { toString: 1, valueOf: 1 } }), "/plans/0/id", /must be a word/],
    [rates("long ".repeat(1000)), "/plans/0/limits/rates/0", /^.{1,130}$/],
    [limits({ concurrent: [1, 2, 3] }), "/plans/0/limits/concurrent", /not an array\.$/],
    [limits({ concurrent: 1e300 }), "/plans/0/limits/concurrent", /not a number that large\.$/],
  ])(
    "an invalid plans file is refused, and the error has a JSON pointer to the wrong value: case %#",
    (reading, pointer, message) => {
      expect(reading).toEqual({
        kind: "violations",
        violations: [expect.objectContaining({ pointer, message: expect.stringMatching(message) })],
      });
    },
  );

  test("plans without an id are not called plans with the same id", () => {
    const reading = plansFromJson(JSON.stringify({ plans: [{}, {}, { id: "" }, { id: "" }] }));
    expect(reading.kind === "violations" && reading.violations.map(({ message }) => message)).toEqual(
      Array.from({ length: 4 }, () => expect.stringMatching(/^`id` must be a word/)),
    );
  });

  test("a plans file with many errors is refused with the first errors and their number", () => {
    const file = join(folder, "many.json");
    writeFileSync(file, JSON.stringify({ plans: Array.from({ length: 500 }, () => ({})) }));
    expect(() => loadPlans({ plansFile: file })).toThrow(
      /^(.* `id` must be .*\n){20}.* has 480 more faults like these\.$/,
    );
  });

  test("all errors of a plans file are reported together", () => {
    const reading = plansFromJson(
      JSON.stringify({
        plan: [],
        plans: [
          {
            id: "free",
            limit: {},
            limits: { depth_max: 31, rates: [{ ...rate, quota: 0, unit: "calls" }] },
          },
          { id: "No Name", limits: { concurrent: "many" } },
        ],
      }),
    );
    expect(
      reading.kind === "violations" && reading.violations.map(({ pointer }) => pointer).toSorted(),
    ).toEqual([
      "/plan",
      "/plans/0/limit",
      "/plans/0/limits/depth_max",
      "/plans/0/limits/rates/0/quota",
      "/plans/0/limits/rates/0/unit",
      "/plans/1/id",
      "/plans/1/limits/concurrent",
    ]);
  });
});

describe("the plans in GET /price", () => {
  const word = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,31}$/);
  const rate = fc.record({
    name: word,
    quota: fc.integer({ min: 1, max: 1_000_000_000_000 }),
    windowS: fc.integer({ min: 1, max: 2_000_000 }),
    unit: fc.constantFrom("request" as const, "engine_ms" as const),
  });
  const limits = fc.record({
    depthMax: fc.integer({ min: requestBounds.depth.default, max: 30 }),
    nodesMax: fc.integer({ min: 1, max: 1_000_000_000 }),
    multipvMax: fc.integer({ min: 1, max: 10 }),
    movetimeMaxMs: fc.integer({ min: 50, max: 60_000 }),
    reviewPliesMax: fc.integer({ min: 1, max: 600 }),
    concurrent: fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: undefined }),
    rates: fc.uniqueArray(rate, { selector: ({ name }) => name, maxLength: 4 }),
  });
  const added = word.filter((id) => id !== "keyless" && id !== "free");
  const plans: fc.Arbitrary<readonly Plan[]> = fc
    .tuple(fc.uniqueArray(added, { maxLength: 3 }), fc.array(limits, { minLength: 5, maxLength: 5 }))
    .map(([ids, all]) =>
      ["keyless", "free", ...ids].map((id, index) => ({
        id,
        requiresKey: id !== "keyless",
        limits: all[index] ?? freePlan.limits,
      })),
    );

  test("the plans in GET /price always have the form of a valid plans file", () => {
    fc.assert(
      fc.property(plans, (some) => {
        expect(read(...shownPlans(some))).toEqual({ kind: "plans", plans: some });
      }),
    );
  });

  test("the built-in plans and the open plan in GET /price have the form of a valid plans file", () => {
    expect(read(...shownPlans(builtInPlans))).toEqual({ kind: "plans", plans: builtInPlans });
    expect(read(...shownPlans([openPlan]))).toEqual({ kind: "plans", plans: [openPlan, freePlan] });
  });
});

test.each([
  ["UTF-8", "utf8"],
  ["UTF-16", "utf16le"],
] as const)("a plans file in %s with a byte order mark is read", (_, encoding) => {
  const file = join(folder, `${encoding}.json`);
  writeFileSync(file, `\ufeff${JSON.stringify({ plans: [{ id: "gold" }] })}`, encoding);
  expect(loadPlans({ plansFile: file }).map(({ id }) => id)).toContain("gold");
});
