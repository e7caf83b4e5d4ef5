import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { get, post } from "./post.ts";

const folder = useTemporaryFolder();
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_DATA_DIR: folder,
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_KEYS_PER_DAY: "1",
    KIBITZ_KEY_EXPIRY_DAYS: "30",
    KIBITZ_SELF_SERVICE_KEYS_MAX: "12",
  },
  { engines: createEnginesInProcess() },
);

const newKey = (address: string, body = {}) =>
  post(`${app.url}/v1/keys`, body, { "Content-Type": "application/json", "X-Forwarded-For": address });

test("a key that was not used for 30 days is refused, and the error advises to get a new key", async () => {
  const { body } = await newKey("198.51.100.1");
  const headers = { Authorization: `Bearer ${body.key}` };
  const database = new DatabaseSync(join(folder, "kibitz.db"));
  onTestFinished(() => database.close());
  database.prepare("UPDATE api_key SET created_at = created_at - ?").run(31 * 86_400_000);
  const refused = await get(`${app.url}/v1/keys/self`, { headers });
  expect([refused.status, refused.headers.get("www-authenticate"), refused.body]).toMatchObject([
    401,
    'Bearer error="invalid_token"',
    {
      code: "invalid_api_key",
      next_action: "get_api_key",
      detail: expect.stringContaining("expired: it was not used for 30 days"),
    },
  ]);
});

test("a /48 network may create ten times as many keys as one address", async () => {
  for (let index = 0; index < 10; index++) {
    expect((await newKey(`2001:db8:7:${index}::1`)).status).toBe(200);
  }
  const { status, headers, body } = await newKey("2001:db8:7:ffff::1");
  expect([status, body]).toMatchObject([
    429,
    {
      code: "rate_limited",
      detail: expect.stringMatching(/network \(\/48\).* limit of 10 keys in 24 hours.*`kibitz keys create`/),
    },
  ]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(86_000);
});

test("an error advises the client to contact the operator if no more keys are available", async () => {
  const wish = { idempotency_key: "a wish of its own".replaceAll(" ", "-") };
  const last = await newKey("198.51.100.3", wish);
  // An expired key no longer counts.
  expect((await newKey("198.51.100.4")).status).toBe(200);
  const { status, body } = await newKey("198.51.100.5");
  expect([status, body]).toMatchObject([
    403,
    {
      code: "self_service_disabled",
      next_action: "contact_operator",
      detail: expect.stringContaining("as many keys as it may"),
    },
  ]);
  // A repeated request returns an existing key.
  expect((await newKey("198.51.100.3", wish)).body.id).toBe(last.body.id);
});
