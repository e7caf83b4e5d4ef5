import { expect, it, vi } from "vitest";
import { withSuggestion } from "../../src/calls/suggest.ts";
import { errorFromViolations, KibitzError, type Violation } from "../../src/errors/errors.ts";

type Plain = Readonly<Record<string, unknown>>;

const depth: Violation = {
  pointer: "/depth",
  code: "out_of_range",
  message: "",
  allowed: { minimum: 1, maximum: 30 },
};
const shortFen: Violation = {
  pointer: "/fen",
  code: "invalid_fen",
  message: "",
  allowed: { examples: ["8/8 w"] },
};
const overPlan = new KibitzError("upgrade_needed", "Too deep.", {
  violations: [{ ...depth, code: "over_plan_limit", allowed: { minimum: 1, maximum: 20 } }],
  upgrade: { plan: "free", url: "/v1/keys" },
  nextAction: "get_api_key",
});

const suggestionFor = async (
  sent: Plain,
  violations: readonly Violation[],
  validate = async (_: Plain) => {},
) => (await withSuggestion(errorFromViolations(violations), sent, validate)).suggestedRequest;

it("a corrected request has the nearest allowed number for each number out of range, and the original is not changed", async () => {
  const sent = { fen: "8/8", depth: 99, movetime_ms: 1, options: { skill_level: 3 } };
  const movetime = { ...depth, pointer: "/movetime_ms", allowed: { minimum: 50, maximum: 60000 } };
  expect(await suggestionFor(sent, [depth, movetime])).toEqual({
    fen: "8/8",
    depth: 30,
    movetime_ms: 50,
    options: { skill_level: 3 },
  });
  expect(sent.depth).toBe(99);
});

it("a corrected request replaces a number that is out of range, also in a list or in a field with an escaped name", async () => {
  const sent = { requests: [{ depth: 3 }, { depth: 0, "a/b~": 77 }] };
  const violations = ["/requests/1/depth", "/requests/1/a~1b~0"].map((pointer) => ({ ...depth, pointer }));
  expect(await suggestionFor(sent, violations)).toEqual({
    requests: [{ depth: 3 }, { depth: 1, "a/b~": 30 }],
  });
});

it("an error has no corrected request if one of its violations is not a number out of range", async () => {
  const sent = { depth: 99, path: "fast", deph: 1 };
  const path: Violation = {
    pointer: "/path",
    code: "out_of_range",
    message: "",
    allowed: { enum: ["auto"] },
  };
  const unknown: Violation = { pointer: "/deph", code: "unknown_field", message: "" };
  expect(await suggestionFor(sent, [depth, unknown])).toBeUndefined();
  expect(await suggestionFor(sent, [depth, path])).toBeUndefined();
  expect(
    await suggestionFor(sent, [{ pointer: "/depth", code: "out_of_range", message: "" }]),
  ).toBeUndefined();
});

it.each(["", "/multipv", "/depth/0", "/constructor/name", "/__proto__"])(
  "an error has no corrected request if the pointer %j does not lead to a number",
  async (pointer) => {
    expect(await suggestionFor({ depth: "99" }, [{ ...depth, pointer }])).toBeUndefined();
  },
);

it("an error has no corrected request if the request contains an API key", async () => {
  const sent = { depth: 99, engine: `kbz_${"a".repeat(36)}` };
  expect(await suggestionFor(sent, [depth])).toBeUndefined();
});

it("an error has no corrected request if the changed request has a new violation", async () => {
  const validate = vi.fn(async (_: Plain) => {
    throw errorFromViolations([shortFen]);
  });
  expect(await suggestionFor({ fen: "8/8", depth: 99 }, [depth], validate)).toBeUndefined();
  expect(validate.mock.calls).toEqual([[{ fen: "8/8", depth: 30 }]]);
});

it("an error has no corrected request if the changed request is refused for another reason", async () => {
  const error = errorFromViolations([depth]);
  const refused = async () => {
    throw errorFromViolations([{ pointer: "/engine", code: "unknown_engine", message: "" }]);
  };
  expect(await withSuggestion(error, { depth: 99 }, refused)).toBe(error);
  const withoutViolations = async () => {
    throw new KibitzError("starting", "Soon.");
  };
  expect(await withSuggestion(error, { depth: 99 }, withoutViolations)).toBe(error);
});

it("an exception during the validation of a corrected request is thrown", async () => {
  const validate = async () => {
    throw new TypeError("a bug");
  };
  await expect(suggestionFor({ depth: 99 }, [depth], validate)).rejects.toThrow("a bug");
});

it("adding a corrected request to an error changes no other part of the error, and does not replace the next action get_api_key", async () => {
  const suggesting = await withSuggestion(overPlan, { depth: 30 }, async () => {});
  expect(suggesting).toMatchObject({
    code: "upgrade_needed",
    message: "Too deep.",
    violations: overPlan.violations,
    upgrade: { plan: "free", url: "/v1/keys" },
    nextAction: "get_api_key",
    suggestedRequest: { depth: 20 },
  });
  expect((await withSuggestion(errorFromViolations([depth]), { depth: 30 }, async () => {})).nextAction).toBe(
    "send_suggested_request",
  );
});

it("a corrected request contains the fields that a violation recommends", async () => {
  const illegal = { pointer: "/moves/2", code: "illegal_move", message: "" } as const;
  const sent = { moves: ["e4", "e5", "Ke3", "Nf6"] };
  const instead = { moves: ["e4", "e5"] };
  expect(await suggestionFor(sent, [{ ...illegal, instead }])).toEqual(instead);
  expect(await suggestionFor(sent, [illegal])).toBeUndefined();
});
