import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** The folder is deleted when this process exits. */
export function makeDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-bench-"));
  if (made.push(folder) === 1) {
    // Add only one listener, because Node warns about more than ten.
    process.on("exit", () => made.forEach((each) => void rmSync(each, { recursive: true, force: true })));
  }
  return folder;
}
