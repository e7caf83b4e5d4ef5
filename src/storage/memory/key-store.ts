import type { EndedKeys, Issued, IssueTerms, KeyRecord, KeyStore } from "../ports.ts";

/** A key, and what was said when it was issued. */
interface Kept {
  readonly record: KeyRecord;
  readonly network: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Keys in this process, gone with it. */
export function createMemoryKeyStore(): KeyStore {
  const keys = new Map<string, Kept>();
  let pepperCheck: string | undefined;
  const change = (id: string, changes: Partial<KeyRecord>) => {
    const kept = keys.get(id);
    if (kept) {
      keys.set(id, { ...kept, record: { ...kept.record, ...changes } });
    }
  };

  function forget(ended: EndedKeys, max: number): number {
    const some = [...keys.values()].filter(({ record }) => hasEnded(record, ended)).slice(0, max);
    for (const { record } of some) {
      keys.delete(record.id);
    }
    return some.length;
  }

  /** The outcome if the terms allow no new key; undefined if they do. */
  function settled({ hash, issuedTo, createdAt }: KeyRecord, terms: IssueTerms): Issued | undefined {
    const { quota, network, keptMax, ended, idempotencyKey } = terms;
    const { windowMs } = quota;
    const recent = [...keys.values()]
      .filter(({ record }) => Math.abs(record.createdAt - createdAt) < windowMs)
      .toSorted((a, b) => b.record.createdAt - a.record.createdAt);
    const own = recent.filter(({ record }) => record.issuedTo === issuedTo);
    const before = own.find(
      (kept) =>
        idempotencyKey !== undefined &&
        kept.idempotencyKey === idempotencyKey &&
        kept.record.revokedAt === undefined,
    );
    if (before) {
      change(before.record.id, { hash });
      return { kind: "renewed", record: { ...before.record, hash } };
    }
    const oldest = own[quota.max - 1];
    if (oldest) {
      return { kind: "too_many", of: "address", max: quota.max, againAt: oldest.record.createdAt + windowMs };
    }
    const oldestNear = network && recent.filter((kept) => kept.network === network.name)[network.max - 1];
    if (oldestNear) {
      return {
        kind: "too_many",
        of: "network",
        max: network.max,
        againAt: oldestNear.record.createdAt + windowMs,
      };
    }
    const isFull = () =>
      keys.values().reduce((sum, { record }) => sum + (record.issuedTo === undefined ? 0 : 1), 0) >= keptMax;
    return isFull() && (forget(ended, 1) === 0 || isFull()) ? { kind: "full" } : undefined;
  }

  return {
    async create(record, terms) {
      const outcome = terms && settled(record, terms);
      if (outcome) {
        return outcome;
      }
      if (keys.has(record.id) || keys.values().some((kept) => kept.record.hash === record.hash)) {
        throw new Error("a key with this id or hash is kept already");
      }
      const { network, idempotencyKey } = terms ?? {};
      keys.set(record.id, { record, network: network?.name, idempotencyKey });
      return { kind: "created" };
    },
    async findByHash(hash) {
      return keys.values().find(({ record }) => record.hash === hash)?.record;
    },
    async findById(id) {
      return keys.get(id)?.record;
    },
    async list() {
      return [...keys.values()].map(({ record }) => record).toSorted((a, b) => a.createdAt - b.createdAt);
    },
    async revoke(id, at) {
      const record = keys.get(id)?.record;
      if (record && record.revokedAt === undefined) {
        change(id, { revokedAt: at });
      }
      return record !== undefined;
    },
    async touch(uses) {
      for (const [id, at] of uses) {
        if (at > (keys.get(id)?.record.lastUsedAt ?? 0)) {
          change(id, { lastUsedAt: at });
        }
      }
    },
    async keepPepperCheck(value) {
      const isBound = keys.values().some(({ record }) => record.revokedAt === undefined);
      pepperCheck = isBound ? (pepperCheck ?? value) : value;
      return pepperCheck;
    },
    async prune(ended, max) {
      return forget(ended, max);
    },
  };
}

function hasEnded(
  { issuedTo, createdAt, lastUsedAt, revokedAt }: KeyRecord,
  { revokedBefore, unusedSince }: EndedKeys,
): boolean {
  const isUnused = issuedTo !== undefined && Math.max(createdAt, lastUsedAt ?? 0) < unusedSince;
  return isUnused || (revokedAt !== undefined && revokedAt < revokedBefore);
}
