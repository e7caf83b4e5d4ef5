import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/**
 * A new folder for the tests of a file or group, gone after them. Not to be called where a module is read that is no
 * test: files share those, and the folder would go with the first of them.
 */
export function useTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-test-"));
  // Engines in it run as another user where the tests run as root.
  chmodSync(folder, 0o755);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
