import type { DatabaseSync } from "node:sqlite";
import type { KeyRecord, KeyStore, StoreWatch } from "../ports.ts";
import { createAsk } from "./database.ts";

/** Keys in SQLite. */
export function createSqliteKeyStore(database: DatabaseSync, watch?: StoreWatch): KeyStore {
  const ask = createAsk(database, watch);
  const insert = database.prepare(
    `INSERT INTO api_key (id, hash, name, plan, created_at, issued_to, last_used_at, revoked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const nthIssued = database.prepare(
    "SELECT created_at FROM api_key WHERE issued_to = ? AND created_at > ? AND created_at < ? ORDER BY created_at DESC LIMIT 1 OFFSET ?",
  );
  const byHash = database.prepare("SELECT * FROM api_key WHERE hash = ?");
  const byId = database.prepare("SELECT * FROM api_key WHERE id = ?");
  const all = database.prepare("SELECT * FROM api_key ORDER BY created_at, id");
  const revoke = database.prepare("UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?");
  const touch = database.prepare(
    "UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?",
  );

  return {
    create: (record, quota) =>
      ask.write(() => {
        if (quota) {
          const since = record.createdAt - quota.windowMs;
          const until = record.createdAt + quota.windowMs;
          const oldest = nthIssued.get(record.issuedTo ?? null, since, until, quota.max - 1);
          if (oldest) {
            return { kind: "too_many", againAt: Number(oldest.created_at) + quota.windowMs } as const;
          }
        }
        const { id, hash, name, plan, createdAt, issuedTo, lastUsedAt, revokedAt } = record;
        insert.run(
          id,
          hash,
          name ?? null,
          plan,
          createdAt,
          issuedTo ?? null,
          lastUsedAt ?? null,
          revokedAt ?? null,
        );
        return { kind: "created" } as const;
      }),
    findByHash: (hash) => ask.read(() => recordFromRow(byHash.get(hash))),
    findById: (id) => ask.read(() => recordFromRow(byId.get(id))),
    list: () => ask.read(() => all.all().flatMap((row) => recordFromRow(row) ?? [])),
    revoke: (id, at) => ask.write(() => revoke.run(at, id).changes > 0),
    touch: (uses) =>
      ask.write(() => {
        for (const [id, at] of uses) {
          touch.run(at, id);
        }
      }),
  };
}

type Row = ReturnType<ReturnType<DatabaseSync["prepare"]>["get"]>;

function recordFromRow(row: Row): KeyRecord | undefined {
  return (
    row && {
      id: String(row.id),
      hash: String(row.hash),
      name: row.name === null ? undefined : String(row.name),
      plan: String(row.plan),
      createdAt: Number(row.created_at),
      issuedTo: row.issued_to === null ? undefined : String(row.issued_to),
      lastUsedAt: row.last_used_at === null ? undefined : Number(row.last_used_at),
      revokedAt: row.revoked_at === null ? undefined : Number(row.revoked_at),
    }
  );
}
