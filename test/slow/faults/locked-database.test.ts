import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { post } from "../../contract/doors/post.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: folder });

test("a lock is waited for 5 s before a new key is refused", async () => {
  const other = new DatabaseSync(join(folder, "kibitz.db"));
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const askedAt = performance.now();
  const { status, body } = await post(`${app.url}/v1/keys`, {});
  const ms = performance.now() - askedAt;
  expect([status, body]).toMatchObject([503, { code: "store_unavailable" }]);
  expect(ms).toBeGreaterThan(4000);
  expect(ms).toBeLessThan(8000);
});
