import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";

/**
 * Locks the database like another process with an unfinished write. The lock ends with the test if the test does not release it
 * earlier.
 */
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
