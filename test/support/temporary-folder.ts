import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/**
 * Creates a folder for the tests of a file or group, and deletes it after them. Do not call this at the top level of a shared
 * module: several test files share such a module, and the first of them would delete the folder.
 */
export function useTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-test-"));
  // Engines in it run as another user where the tests run as root.
  chmodSync(folder, 0o755);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
