/**
 * Stores answers until the process is killed, and prints the number of each answer before writing it.
 * Usage: node killed-answer-writer.ts <folder> <first number>
 */
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteAnswerStore } from "../../src/storage/sqlite/answer-store.ts";

const store = openSqliteAnswerStore(process.argv[2] ?? "", {
  bytes: 2e6,
  format: { version: 1, read: (json) => json },
  flushMs: 1,
});
for (let number = Number(process.argv[3]); ; number++) {
  store.set(String(number), { number, text: "x".repeat(1000) });
  // A single system call prints a complete line or nothing.
  writeSync(1, `${number}\n`);
  if (number % 5 === 0) {
    await sleep(1);
  }
}
