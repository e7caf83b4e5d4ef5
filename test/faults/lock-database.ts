import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";

/** Locks the database of a data folder as another process does that writes and does not end; the lock ends with the test at the latest. */
export function lockDatabase(folder: string): { release(): void } {
  // To SQLite each connection is a process of its own.
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
