import { turn } from "../../time/time.ts";
import { keyRules } from "../key-rules.ts";
import type { EndedKeys, Issued, IssueTerms, KeyRecord, KeyStore } from "../ports.ts";
import { type Database, readDatabase } from "./database.ts";

/** The number of API keys for one step of a count. A step blocks the thread for about a millisecond. */
const countedAtOnce = 1000;

export function createSqliteKeyStore(database: Database): KeyStore {
  const insert = database.prepare(
    `INSERT INTO api_key
       (id, hash, name, plan, created_at, issued_to, last_used_at, revoked_at, expires_at, account, replaced_by,
        issued_within, idempotency_key)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const window = "created_at > :since AND created_at < :until ORDER BY created_at DESC LIMIT 1";
  const nthOfAddress = database.prepare(
    `SELECT created_at FROM api_key WHERE issued_to = :name AND ${window} OFFSET :max - 1`,
  );
  const nthOfNetwork = database.prepare(
    `SELECT created_at FROM api_key WHERE issued_within = :name AND ${window} OFFSET :max - 1`,
  );
  const wished = database.prepare(
    `SELECT * FROM api_key
     WHERE issued_to = :name AND idempotency_key = :idempotencyKey AND revoked_at IS NULL AND ${window}`,
  );
  const renew = database.prepare("UPDATE api_key SET hash = ? WHERE id = ?");
  const kept = database.prepare("SELECT kept FROM issued_keys");
  const byHash = database.prepare("SELECT * FROM api_key WHERE hash = ?");
  const byId = database.prepare("SELECT * FROM api_key WHERE id = ?");
  const all = database.prepare("SELECT * FROM api_key ORDER BY created_at, id");
  const revoke = database.prepare("UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?");
  const change = database.prepare(
    "UPDATE api_key SET name = ?, plan = ?, expires_at = ?, replaced_by = ? WHERE id = ?",
  );
  const end = database.prepare(
    `UPDATE api_key SET revoked_at = :revokedAt, expires_at = :endsAt, replaced_by = :nextId
     WHERE id = :id AND revoked_at IS NULL AND replaced_by IS NULL
       AND name IS :name AND plan = :plan AND expires_at IS :expiresAt`,
  );
  const plansAfter = database.prepare(
    "SELECT rowid, plan, revoked_at FROM api_key WHERE rowid > ? ORDER BY rowid LIMIT ?",
  );
  const touch = database.prepare(
    "UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?",
  );
  const ended = database.prepare(
    `SELECT rowid FROM api_key WHERE revoked_at < :endedBefore
     UNION
     SELECT rowid FROM api_key WHERE expires_at < :endedBefore
     UNION
     SELECT rowid FROM api_key
     WHERE issued_to IS NOT NULL AND max(created_at, coalesce(last_used_at, 0)) < :unusedSince
     LIMIT :max`,
  );
  const forget = database.prepare("DELETE FROM api_key WHERE rowid = ?");
  const pepperCheck = database.prepare("SELECT value FROM pepper_check");
  const anyValid = database.prepare("SELECT 1 FROM api_key WHERE revoked_at IS NULL LIMIT 1");
  const forgetPepperCheck = database.prepare(
    "DELETE FROM pepper_check WHERE NOT EXISTS (SELECT 1 FROM api_key WHERE revoked_at IS NULL)",
  );
  const setPepperCheck = database.prepare(
    "INSERT INTO pepper_check SELECT ? WHERE NOT EXISTS (SELECT 1 FROM pepper_check)",
  );

  const isFull = (max: number) => Number(kept.get()?.kept) >= max;

  function forgetEnded({ endedBefore, unusedSince }: EndedKeys, max: number): number {
    return ended
      .all({ endedBefore, unusedSince, max })
      .reduce((sum, { rowid }) => sum + Number(forget.run(Number(rowid)).changes), 0);
  }

  const windowOf = ({ createdAt }: KeyRecord, { quota }: IssueTerms) => ({
    since: createdAt - quota.windowMs,
    until: createdAt + quota.windowMs,
  });

  /** Returns undefined if the address has no key with this idempotency key. */
  function renewKnown(record: KeyRecord, terms: IssueTerms): Issued | undefined {
    const { hash, issuedTo } = record;
    const { idempotencyKey } = terms;
    if (idempotencyKey === undefined) {
      return undefined;
    }
    const known = recordFromRow(
      wished.get({ name: issuedTo ?? null, ...windowOf(record, terms), idempotencyKey }),
    );
    if (known === undefined) {
      return undefined;
    }
    renew.run(hash, known.id);
    return { kind: "renewed", record: { ...known, hash } };
  }

  /** Returns undefined if a new key can be stored. */
  function renewOrCheck(record: KeyRecord, terms: IssueTerms): Issued | undefined {
    const { quota, network } = terms;
    const within = windowOf(record, terms);
    const own = { name: record.issuedTo ?? null, ...within };
    const tooMany = (of: "address" | "network", max: number, oldest: { created_at?: unknown }): Issued => ({
      kind: "too_many",
      of,
      max,
      againAt: Number(oldest.created_at) + quota.windowMs,
    });
    // Another request may have created the key just now.
    const renewed = renewKnown(record, terms);
    if (renewed) {
      return renewed;
    }
    const oldest = nthOfAddress.get({ ...own, max: quota.max });
    if (oldest) {
      return tooMany("address", quota.max, oldest);
    }
    const oldestNear = network && nthOfNetwork.get({ ...within, ...network });
    if (network && oldestNear) {
      return tooMany("network", network.max, oldestNear);
    }
    if (isFull(terms.keptMax)) {
      forgetEnded(terms.ended, keyRules.endedAtOnce);
      return isFull(terms.keptMax) ? { kind: "full" } : undefined;
    }
    return undefined;
  }

  function add(record: KeyRecord, terms?: IssueTerms): void {
    const { id, hash, name, plan, createdAt, issuedTo, lastUsedAt, revokedAt, expiresAt } = record;
    insert.run(
      id,
      hash,
      name ?? null,
      plan,
      createdAt,
      issuedTo ?? null,
      lastUsedAt ?? null,
      revokedAt ?? null,
      expiresAt ?? null,
      record.account ?? null,
      record.replacedBy ?? null,
      terms?.network?.name ?? null,
      terms?.idempotencyKey ?? null,
    );
  }

  return {
    async create(record, terms) {
      // Do not wait for the disk: after a power failure, the client can renew its key again.
      const renewed =
        terms?.idempotencyKey === undefined
          ? undefined
          : await database.writeUnsynced(() => renewKnown(record, terms));
      if (renewed) {
        return renewed;
      }
      return database.write((): Issued => {
        const outcome = terms && renewOrCheck(record, terms);
        if (outcome) {
          return outcome;
        }
        add(record, terms);
        return { kind: "created" };
      });
    },
    createAll: (records) =>
      database.write(() => {
        for (const record of records) {
          add(record);
        }
      }),
    findByHash: (hash) => database.read(() => recordFromRow(byHash.get(hash))),
    findById: (id) => database.read(() => recordFromRow(byId.get(id))),
    list: () => database.read(() => all.all().flatMap((row) => recordFromRow(row) ?? [])),
    revoke: (id, at) => database.write(() => revoke.run(at, id).changes > 0),
    update: (id, { name, plan, expiresAt, endsBy, replacedBy }) =>
      database.write(() => {
        const before = recordFromRow(byId.get(id));
        if (before === undefined || before.revokedAt !== undefined) {
          return undefined;
        }
        const after: KeyRecord = {
          ...before,
          name: changed(before.name, name),
          plan: plan ?? before.plan,
          expiresAt: earlierOf(changed(before.expiresAt, expiresAt), endsBy),
          replacedBy: replacedBy ?? before.replacedBy,
        };
        change.run(after.name ?? null, after.plan, after.expiresAt ?? null, after.replacedBy ?? null, id);
        return { before, after };
      }),
    replace: ({ id, name = null, plan, expiresAt = null }, next, ending) =>
      database.write(() => {
        const [revokedAt, endsAt] =
          "revokedAt" in ending ? [ending.revokedAt, expiresAt] : [null, ending.expiresAt];
        if (end.run({ id, name, plan, expiresAt, revokedAt, endsAt, nextId: next.id }).changes === 0) {
          return recordFromRow(byId.get(id))?.replacedBy === next.id;
        }
        add(next);
        return true;
      }),
    touch: (uses) =>
      database.write(() => {
        for (const [id, at] of uses) {
          touch.run(at, id);
        }
      }),
    async prune(endedKeys, max) {
      const some = await database.read(() => ended.get({ ...endedKeys, max: 1 }) !== undefined);
      return some ? database.write(() => forgetEnded(endedKeys, max)) : 0;
    },
    async countByPlan() {
      const counts = new Map<string, number>();
      let rows: readonly NonNullable<Row>[];
      let last = 0;
      do {
        await turn();
        rows = await database.read(() => plansAfter.all(last, countedAtOnce));
        for (const { plan } of rows.filter(({ revoked_at }) => revoked_at === null)) {
          counts.set(String(plan), (counts.get(String(plan)) ?? 0) + 1);
        }
        last = Number(rows.at(-1)?.rowid);
      } while (rows.length === countedAtOnce);
      return counts;
    },
    pepperCheck: () =>
      database.read(() => {
        const kept = pepperCheck.get()?.value;
        return kept === undefined || anyValid.get() === undefined ? undefined : String(kept);
      }),
    async keepPepperCheck(value) {
      const kept = () => String(pepperCheck.get()?.value);
      // Do not write if the pepper is unchanged, because the disk may be full.
      return (await database.read(kept)) === value
        ? value
        : database.write(() => {
            forgetPepperCheck.run();
            setPepperCheck.run(value);
            return kept();
          });
    },
  };
}

export interface StoredKeys {
  readonly records: readonly KeyRecord[];
  /** Undefined if any pepper may be used. */
  readonly pepperCheck: string | undefined;
}

/** Reads all keys without changing the database. Throws StoreUnusable. */
export function readSqliteKeys(file: string): StoredKeys {
  return readDatabase(file, (database) => {
    const rows = database.prepare("SELECT * FROM api_key ORDER BY created_at, id").all();
    const records = rows.flatMap((row) => recordFromRow(row) ?? []);
    const hasCheck = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'pepper_check'").get();
    const value = hasCheck && database.prepare("SELECT value FROM pepper_check").get()?.value;
    const isAny = value === undefined || records.every(({ revokedAt }) => revokedAt !== undefined);
    return { records, pepperCheck: isAny ? undefined : String(value) };
  });
}

/** Null removes the value, and undefined keeps the value. */
function changed<T>(before: T | undefined, value: T | null | undefined): T | undefined {
  return value === undefined ? before : (value ?? undefined);
}

function earlierOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

type Row = ReturnType<ReturnType<Database["prepare"]>["get"]>;

/** Also reads rows of older databases, which lack columns. */
function recordFromRow(row: Row): KeyRecord | undefined {
  const textOf = (value: unknown) => (value === null || value === undefined ? undefined : String(value));
  const numberOf = (value: unknown) => (value === null || value === undefined ? undefined : Number(value));
  return (
    row && {
      id: String(row.id),
      hash: String(row.hash),
      name: textOf(row.name),
      plan: String(row.plan),
      createdAt: Number(row.created_at),
      issuedTo: textOf(row.issued_to),
      lastUsedAt: numberOf(row.last_used_at),
      revokedAt: numberOf(row.revoked_at),
      expiresAt: numberOf(row.expires_at),
      account: textOf(row.account),
      replacedBy: textOf(row.replaced_by),
    }
  );
}
