import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for what a server keeps, gone with the bench. */
export function makeDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
