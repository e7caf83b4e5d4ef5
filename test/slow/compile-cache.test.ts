import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { compileCacheOf } from "../support/compile-cache-of.ts";
import { testWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();

testWith("root")("Node's compile cache is not written into a folder that belongs to another user", () => {
  const foreign = join(folder, "foreign");
  mkdirSync(foreign, { mode: 0o700 });
  chownSync(foreign, 65_534, 65_534);
  expect(compileCacheOf(foreign)).toBe("nowhere");
});
