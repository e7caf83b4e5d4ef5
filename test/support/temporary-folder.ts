import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A new folder for the tests of a file or group, gone after them. */
export function useTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
