import { expect, test } from "vitest";
import { createApiKey } from "../../src/access/keys.ts";
import { welcome } from "../../src/http/pages/welcome.ts";
import { requestIdFrom } from "../../src/request/context.ts";

const key = createApiKey();

test("a request id or host name that contains an API key is not repeated in a response", () => {
  expect(requestIdFrom(key)).not.toContain(key);
  expect(requestIdFrom("my-request:1")).toBe("my-request:1");
  expect(welcome(key).body).not.toContain(key);
});
