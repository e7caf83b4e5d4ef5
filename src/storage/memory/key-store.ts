import type { KeyRecord, KeyStore } from "../ports.ts";

/** Keys in this process, gone with it. */
export function createMemoryKeyStore(): KeyStore {
  const records = new Map<string, KeyRecord>();
  const change = (id: string, changes: Partial<KeyRecord>) => {
    const record = records.get(id);
    if (record) {
      records.set(id, { ...record, ...changes });
    }
  };
  return {
    async create(record, quota) {
      if (quota) {
        const since = record.createdAt - quota.windowMs;
        const until = record.createdAt + quota.windowMs;
        const issued = [...records.values()]
          .filter(
            ({ issuedTo, createdAt }) =>
              issuedTo === record.issuedTo && createdAt > since && createdAt < until,
          )
          .map(({ createdAt }) => createdAt)
          .toSorted((a, b) => b - a);
        const oldest = issued[quota.max - 1];
        if (oldest !== undefined) {
          return { kind: "too_many", againAt: oldest + quota.windowMs };
        }
      }
      if (records.has(record.id) || records.values().some(({ hash }) => hash === record.hash)) {
        throw new Error("a key with this id or hash is kept already");
      }
      records.set(record.id, record);
      return { kind: "created" };
    },
    async findByHash(hash) {
      return records.values().find((record) => record.hash === hash);
    },
    async findById(id) {
      return records.get(id);
    },
    async list() {
      return [...records.values()].toSorted((a, b) => a.createdAt - b.createdAt);
    },
    async revoke(id, at) {
      const record = records.get(id);
      if (record && record.revokedAt === undefined) {
        change(id, { revokedAt: at });
      }
      return record !== undefined;
    },
    async touch(uses) {
      for (const [id, at] of uses) {
        if (at > (records.get(id)?.lastUsedAt ?? 0)) {
          change(id, { lastUsedAt: at });
        }
      }
    },
  };
}
