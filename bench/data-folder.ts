import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** A folder for what a server keeps, gone with the bench. */
export function makeDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-bench-"));
  if (made.push(folder) === 1) {
    // One listener, however many servers a bench starts.
    process.on("exit", () => made.forEach((each) => void rmSync(each, { recursive: true, force: true })));
  }
  return folder;
}
