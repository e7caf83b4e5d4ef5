import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder that is gone after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-"));
  // Engines run as another user where the tests run as root.
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A shell script that can be run, in a folder of its own. */
export function writeScript(text: string, name = "stockfish", folder = createFolder()): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}
