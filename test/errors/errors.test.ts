import { expect, test } from "vitest";
import { createApiKey } from "../../src/access/keys.ts";
import { errorFromViolations, KibitzError, type Violation, withCost } from "../../src/errors/errors.ts";
import { problemFromError } from "../../src/errors/problem.ts";
import { echo } from "../../src/text/echo.ts";

const key = createApiKey();

test("error messages contain no API key and no part of an API key", () => {
  for (const text of [key, `x${key}y`, key.slice(0, 30), `${"x".repeat(30)}${key}`]) {
    const violation = { pointer: `/${text}`, code: "unknown_field", message: `not "${echo(text)}"` } as const;
    const error = new KibitzError("unknown_field", `not "${echo(text)}"`, { violations: [violation] });
    expect(JSON.stringify(problemFromError(error, "id"))).not.toContain(key.slice(0, 16));
  }
  expect(new KibitzError("api_key_required", "Send Bearer kbz_…").message).toBe("Send Bearer kbz_…");
});

test.each([
  [1, "no", 1],
  [2, "no There is 1 more fault.", 2],
  [3, "no There are 2 more faults.", 3],
  [19, "no There are 18 more faults.", 19],
  [20, "no There are at least 19 more faults.", 20],
  [600, "no There are at least 19 more faults.", 20],
])("an error with %i violations has the text: %s", (count, text, kept) => {
  const violation: Violation = { pointer: "/depth", code: "out_of_range", message: "no" };
  const { code, message, violations } = errorFromViolations(Array.from({ length: count }, () => violation));
  expect({ code, message }).toEqual({ code: "out_of_range", message: text });
  expect(violations).toHaveLength(kept);
});

test("a second cost of an error raises its cost up to 20, and never lowers it", () => {
  const error = new KibitzError("invalid_fen", "no");
  const costs = [0, 3.9, 2, 600].map((cost) => withCost(error, cost).cost);
  expect(costs).toEqual([1, 3, 3, 20]);
});
