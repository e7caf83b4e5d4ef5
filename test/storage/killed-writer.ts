/**
 * Writes keys and engine time until the process is killed. Prints each stored key, and prints `revoked` and the key after a
 * revocation.
 * Usage: node killed-writer.ts <folder>
 */
import { writeSync } from "node:fs";
import { createKeyIssuer } from "../../src/access/key-issuer.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";

const database = openDatabase(process.argv[2] ?? "");
const issuer = createKeyIssuer({ keys: createSqliteKeyStore(database), pepper: undefined });
const usage = createSqliteUsageStore(database);
const resetsAt = Date.now() + 3_600_000;

for (let count = 0; ; count++) {
  const issued = await issuer.issue({ name: undefined, plan: "free" });
  await usage.add([{ rate: "free/day", subject: "somebody", engineMs: 1, resetsAt }], Date.now());
  if (issued.kind === "issued") {
    // A single system call prints a complete line or nothing.
    writeSync(1, `${issued.key}\n`);
    if (count % 2 === 1) {
      await issuer.revoke(issued.record.id);
      writeSync(1, `revoked ${issued.key}\n`);
    }
  }
}
