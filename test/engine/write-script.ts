import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder, which is deleted after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-"));
  // If the tests run as root, engines run as another user and must be able to read the folder.
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Writes an executable shell script. Returns the path of the script. */
export function writeScript(text: string, name = "stockfish", folder = createFolder()): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}
