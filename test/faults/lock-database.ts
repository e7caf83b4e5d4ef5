import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";

/** Locks the database, like another process during a write. The lock ends when `release` is called or the test ends. */
export function lockDatabase(folder: string): { release(): void } {
  // SQLite treats another connection like another process.
  const other = new DatabaseSync(join(folder, "kibitz.db"));
  other.exec("BEGIN IMMEDIATE");
  const release = () => {
    if (other.isOpen) {
      other.close();
    }
  };
  onTestFinished(release);
  return { release };
}
