import { expect, test } from "vitest";
import { createApiKey } from "../../src/access/keys.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { problemFromError } from "../../src/errors/problem.ts";
import { welcome } from "../../src/http/pages/welcome.ts";
import { requestIdFrom } from "../../src/request/context.ts";
import { echo, nameOfJson } from "../../src/text/plain-text.ts";

const key = createApiKey();

test("error messages contain no API key and no part of an API key", () => {
  for (const text of [key, `x${key}y`, key.slice(0, 30), `${"x".repeat(30)}${key}`]) {
    const violation = { pointer: `/${text}`, code: "unknown_field", message: `not "${echo(text)}"` } as const;
    const error = new KibitzError("unknown_field", `not "${echo(text)}"`, { violations: [violation] });
    expect(JSON.stringify(problemFromError(error, "id"))).not.toContain(key.slice(0, 16));
  }
  expect(new KibitzError("api_key_required", "Send Bearer kbz_…").message).toBe("Send Bearer kbz_…");
});

test("a request id or host name that contains an API key is not repeated in a response", () => {
  expect(requestIdFrom(key)).not.toContain(key);
  expect(requestIdFrom("my-request:1")).toBe("my-request:1");
  expect(welcome(key).body).not.toContain(key);
});

test("control characters are removed from a caller's text in error messages", () => {
  expect(echo("a\u009b31m\u007f\u2028\u202eb\n\u001b")).toBe("a\\u009b31m\\u007f\\u2028\\u202eb\\n\\u001b");
  expect(echo("Läufer schlägt ♔")).toBe("Läufer schlägt ♔");
  expect(echo("e4\u00ad\u034f\u180e\u2800\u3164\ufe0f\ufeff\u{e0001}")).toBe(
    "e4\\u00ad\\u034f\\u180e\\u2800\\u3164\\ufe0f\\ufeff\\udb40\\udc01",
  );
});

test.each([
  ["null", "null"],
  ["[14]", "an array"],
  ['{"a":14}', "an object"],
  ["9007199254740991", "9007199254740991"],
  ["12345678901234567891", "a number that large"],
  ["-1e400", "a number that far below zero"],
])("an error message shows the JSON value %s as %s", (text, shown) => {
  expect(nameOfJson(JSON.parse(text))).toBe(shown);
});
