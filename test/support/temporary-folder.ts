import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/**
 * Creates a folder for the tests of a file or group, and deletes it afterwards. Do not call this function in a module that
 * several test files import: the first file would delete the folder.
 */
export function useTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-test-"));
  // If the tests run as root, engines in this folder run as another user.
  chmodSync(folder, 0o755);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
