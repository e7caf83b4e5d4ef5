/**
 * How many look-ups of API keys are answered from memory under load, over a real database: each key is used fifty
 * times a second, and looked up again when it has been known for 3 s.
 *
 *     node bench/key-look-ups.ts [keys, default 200] [seconds, default 12]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createAuthenticator } from "../src/access/authenticate.ts";
import { createKeyIssuer } from "../src/access/keys.ts";
import { openDatabase } from "../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../src/storage/sqlite/key-store.ts";
import { makeDataFolder } from "./data-folder.ts";

const count = Number(process.argv[2] ?? 200);
const seconds = Number(process.argv[3] ?? 12);
const callsASecond = 50;

const database = openDatabase(makeDataFolder());
const keys = createSqliteKeyStore(database);
const desk = createKeyIssuer({ keys, pepper: undefined });
const authenticator = createAuthenticator({ keys, pepper: undefined });

const headers: string[] = [];
for (let made = 0; made < count; made++) {
  const issued = await desk.issue({ name: undefined, plan: "free" });
  if (issued.kind === "issued") {
    headers.push(`Bearer ${issued.key}`);
  }
}
const before = process.cpuUsage();
for (let round = 0; round < seconds * callsASecond; round++) {
  await Promise.all(headers.map((header) => authenticator.keyOf(header)));
  await sleep(1000 / callsASecond);
}
const { user, system } = process.cpuUsage(before);
await authenticator.flush();
database.close();

const { hits, misses } = authenticator.counters;
const share = (100 * hits) / (hits + misses);
const microseconds = (user + system) / (hits + misses);
console.log(`${hits + misses} look-ups, ${share.toFixed(2)} % from memory (goal: at least 99 %)`);
console.log(`${microseconds.toFixed(2)} µs of CPU a look-up`);
