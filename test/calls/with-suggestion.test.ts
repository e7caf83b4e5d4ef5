import { expect, it } from "vitest";
import { withSuggestion } from "../../src/calls/suggest.ts";
import { errorFromViolations, type Violation } from "../../src/errors/errors.ts";

type Plain = Readonly<Record<string, unknown>>;

const depth: Violation = {
  pointer: "/depth",
  code: "out_of_range",
  message: "",
  allowed: { minimum: 1, maximum: 30 },
};
const suggestionFor = async (sent: Plain, violations: readonly Violation[]) =>
  (await withSuggestion(errorFromViolations(violations), sent, async () => {})).suggestedRequest;

it("a corrected request replaces a number that is out of range, also in a list or in a field with an escaped name", async () => {
  const sent = { requests: [{ depth: 3 }, { depth: 0, "a/b~": 77 }] };
  const violations = ["/requests/1/depth", "/requests/1/a~1b~0"].map((pointer) => ({ ...depth, pointer }));
  expect(await suggestionFor(sent, violations)).toEqual({
    requests: [{ depth: 3 }, { depth: 1, "a/b~": 30 }],
  });
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
