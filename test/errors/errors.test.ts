import { expect, test } from "vitest";
import { createApiKey } from "../../src/access/keys.ts";
import { KibitzError } from "../../src/errors/errors.ts";
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
