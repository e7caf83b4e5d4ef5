import type { DatabaseSync } from "node:sqlite";
import type { StoreWatch, UsageStore } from "../ports.ts";
import { createAsk } from "./database.ts";

/** Engine time used, in SQLite. Windows that have ended are deleted when the next is written. */
export function createSqliteUsageStore(database: DatabaseSync, watch?: StoreWatch): UsageStore {
  const ask = createAsk(database, watch);
  const forget = database.prepare("DELETE FROM engine_time WHERE resets_at <= ?");
  const add = database.prepare(
    `INSERT INTO engine_time (rate, subject, engine_ms, resets_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET
       engine_ms = engine_ms + excluded.engine_ms,
       resets_at = min(resets_at, excluded.resets_at)`,
  );
  const current = database.prepare("SELECT * FROM engine_time WHERE resets_at > ?");

  return {
    add: (spent, now) =>
      ask.write(() => {
        forget.run(now);
        for (const { rate, subject, engineMs, resetsAt } of spent) {
          add.run(rate, subject, Math.round(engineMs), Math.round(resetsAt));
        }
      }),
    current: (now) =>
      ask.read(() =>
        current.all(now).map((row) => ({
          rate: String(row.rate),
          subject: String(row.subject),
          engineMs: Number(row.engine_ms),
          resetsAt: Number(row.resets_at),
        })),
      ),
  };
}
