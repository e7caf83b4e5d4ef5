import type { UsageStore } from "../ports.ts";
import type { Database } from "./database.ts";

export function createSqliteUsageStore(database: Database): UsageStore {
  const add = database.prepare(
    `INSERT INTO engine_time (rate, subject, engine_ms, resets_at) VALUES (:rate, :subject, :engineMs, :resetsAt)
     ON CONFLICT DO UPDATE SET
       engine_ms = iif(resets_at > :now, engine_ms, 0) + excluded.engine_ms,
       resets_at = iif(resets_at > :now, min(resets_at, excluded.resets_at), excluded.resets_at)`,
  );
  const anyEnded = database.prepare("SELECT 1 FROM engine_time WHERE resets_at <= ? LIMIT 1");
  const forget = database.prepare(
    `DELETE FROM engine_time WHERE (rate, subject) IN
       (SELECT rate, subject FROM engine_time WHERE resets_at <= ? LIMIT ?)`,
  );
  const current = database.prepare("SELECT * FROM engine_time WHERE resets_at > ?");

  return {
    add: (spent, now) =>
      database.write(() => {
        for (const { rate, subject, engineMs, resetsAt } of spent) {
          add.run({
            rate,
            subject,
            engineMs: Math.round(engineMs),
            resetsAt: Math.round(resetsAt),
            now: Math.floor(now),
          });
        }
      }),
    async prune(now, max) {
      const some = await database.read(() => anyEnded.get(now) !== undefined);
      return some ? database.write(() => Number(forget.run(now, max).changes)) : 0;
    },
    current: (now) =>
      database.read(() =>
        current.all(now).map((row) => ({
          rate: String(row.rate),
          subject: String(row.subject),
          engineMs: Number(row.engine_ms),
          resetsAt: Number(row.resets_at),
        })),
      ),
  };
}
