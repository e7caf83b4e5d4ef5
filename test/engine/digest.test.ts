import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf, lazyDigestOf } from "../../src/engine/file-integrity.ts";
import { createFolder } from "./write-script.ts";

test.each([0, 1, 262_143, 262_144, 262_145, 1_000_000])(
  "the digest of %i bytes is SHA-256",
  async (bytes) => {
    const file = join(createFolder(), "engine");
    const content = Buffer.alloc(bytes, "kibitz");
    writeFileSync(file, content);
    expect(await digestOf(file)).toBe(createHash("sha256").update(content).digest("hex"));
  },
);

test("a lazy digest is read once", async () => {
  const file = join(createFolder(), "engine");
  writeFileSync(file, "engine");
  const digest = lazyDigestOf([file]);
  const [first, second] = await Promise.all([digest(), digest()]);
  rmSync(file);
  expect(await digest()).toBe(first);
  expect(second).toBe(first);
});

test("a lazy digest that could not be read can be asked again", async () => {
  const file = join(createFolder(), "engine");
  const digest = lazyDigestOf([file]);
  await expect(digest()).rejects.toThrow("ENOENT");
  writeFileSync(file, "engine");
  expect(await digest()).toMatch(/^[0-9a-f]{64}$/);
});
