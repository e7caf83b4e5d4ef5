import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** The folder for the data of a server is deleted when the bench ends. */
export function makeDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-bench-"));
  if (made.push(folder) === 1) {
    // Add only one listener, however many servers a bench starts.
    process.on("exit", () => made.forEach((each) => void rmSync(each, { recursive: true, force: true })));
  }
  return folder;
}
