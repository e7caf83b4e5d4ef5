import {
  type Issued,
  type IssueTerms,
  type KeyRecord,
  type KeyStore,
  OutcomeUnknown,
  StoreUnavailable,
} from "../ports.ts";
import type { RedisClock } from "./clock.ts";
import type { Redis, RedisScript } from "./connection.ts";
import {
  createScript,
  findByHashScript,
  findScript,
  pepperScript,
  pruneScript,
  revokeScript,
  touchScript,
} from "./key-scripts.ts";
import { fieldsOf, listOf, textsOf } from "./replies.ts";

/** What all names of keys begin with, behind the prefix. */
const names = ["keys:"];

/** Keys that one script is asked about: it holds Redis up for a millisecond. */
const atOnce = 250;

/** How long after it was sent a key may be made, in milliseconds: its caller has been told long before that nobody knows. */
const createMaxMs = 4000;

/** On what channel nodes tell each other whose secret is valid no more. */
const endedChannel = "keys-ended";

/** Keys in Redis, which all nodes see: none of them has a lifetime, so Redis must not evict them. */
interface RedisKeyStore extends KeyStore, Disposable {
  /** Tells of a key whose secret another node, or the command line, has ended just now, as far as it is heard. */
  onEnded(hear: (id: string) => void): void;
}

export function createRedisKeyStore(redis: Redis, clock: RedisClock): RedisKeyStore {
  const open = new DisposableStack();
  const isDown = () => redis.health.kind === "down";

  /** @throws OutcomeUnknown where it was sent, and the connection lost before the answer came */
  async function write(script: RedisScript, args: readonly (string | number)[]): Promise<unknown> {
    const wasDown = isDown();
    try {
      return await redis.run(script, names, args);
    } catch (error) {
      if (error instanceof StoreUnavailable && !wasDown && isDown()) {
        throw new OutcomeUnknown(error.message, { cause: error });
      }
      throw error;
    }
  }

  /** Who misses it learns it when they look the key up again. */
  async function tellEnded(id: string): Promise<void> {
    await redis.tell(endedChannel, id).catch(() => {});
  }

  return {
    async create(record, terms) {
      const args = argumentsOf(record, terms, clock.deadline(createMaxMs));
      const [kind, ...rest] = listOf(await write(createScript, args));
      switch (kind) {
        case "created":
          return { kind };
        case "renewed": {
          const renewed = recordFrom(fieldsOf(rest[0]));
          if (renewed === undefined) {
            throw new TypeError("Redis has renewed a key that it does not have");
          }
          await tellEnded(renewed.id);
          return { kind, record: renewed };
        }
        case "too_many":
          return tooMany(rest, terms);
        case "full":
          return { kind };
        case "late":
          throw new StoreUnavailable("Redis was asked for a key too long ago");
        default:
          throw new Error("a key with this id or hash is kept already");
      }
    },
    findByHash: async (hash) => recordFrom(fieldsOf(await redis.run(findByHashScript, names, [hash]))),
    async findById(id) {
      const [found] = listOf(await redis.run(findScript, names, [id]));
      return recordFrom(fieldsOf(found));
    },
    async list() {
      const ids = textsOf(await redis.ask("ZRANGE", [`${names[0]}all`], [0, -1]));
      const records: KeyRecord[] = [];
      for (let at = 0; at < ids.length; at += atOnce) {
        const found = listOf(await redis.run(findScript, names, ids.slice(at, at + atOnce)));
        records.push(...found.flatMap((fields) => recordFrom(fieldsOf(fields)) ?? []));
      }
      return records;
    },
    async revoke(id, at) {
      const known = (await write(revokeScript, [id, at])) === 1;
      if (known) {
        await tellEnded(id);
      }
      return known;
    },
    async touch(uses) {
      const all = [...uses];
      for (let at = 0; at < all.length; at += atOnce) {
        await redis.run(touchScript, names, all.slice(at, at + atOnce).flat());
      }
    },
    async prune({ revokedBefore, unusedSince }, max) {
      return Number(await redis.run(pruneScript, names, [revokedBefore, unusedSince, max]));
    },
    keepPepperCheck: async (value) => String(await redis.run(pepperScript, names, [value])),
    onEnded(hear) {
      const { heard, leave } = redis.listen(endedChannel, hear);
      // It listens when Redis is back.
      heard.catch(() => {});
      open.defer(leave);
    },
    [Symbol.dispose]: () => open.dispose(),
  };
}

/** In the order that the script names. */
function argumentsOf(
  record: KeyRecord,
  terms: IssueTerms | undefined,
  deadline: number | "",
): readonly (string | number)[] {
  const { id, hash, name, plan, createdAt, issuedTo = "", lastUsedAt = "", revokedAt = "" } = record;
  const { network, idempotencyKey } = terms ?? {};
  const wish = idempotencyKey === undefined ? "" : `=${idempotencyKey}`;
  const fields = {
    id,
    hash,
    name,
    plan,
    created_at: createdAt,
    issued_to: record.issuedTo,
    last_used_at: record.lastUsedAt,
    revoked_at: record.revokedAt,
    network: network?.name,
    wish: wish || undefined,
  };
  return [
    ...[id, hash, createdAt, issuedTo, lastUsedAt, revokedAt],
    ...(terms ? [createdAt - terms.quota.windowMs, createdAt + terms.quota.windowMs] : ["", ""]),
    ...[terms?.quota.max ?? "", network?.name ?? "", network?.max ?? "", terms?.keptMax ?? ""],
    ...[terms?.ended.revokedBefore ?? "", terms?.ended.unusedSince ?? "", wish, deadline],
    ...Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [field, value])),
  ];
}

function tooMany([of, oldest]: readonly unknown[], terms: IssueTerms | undefined): Issued {
  const { quota, network } = terms ?? {};
  const againAt = Number(oldest) + (quota?.windowMs ?? 0);
  return of === "address"
    ? { kind: "too_many", of, max: quota?.max ?? 0, againAt }
    : { kind: "too_many", of: "network", max: network?.max ?? 0, againAt };
}

function recordFrom(fields: ReadonlyMap<string, string>): KeyRecord | undefined {
  const id = fields.get("id");
  const numberOf = (name: string) => {
    const text = fields.get(name);
    return text === undefined ? undefined : Number(text);
  };
  return id === undefined
    ? undefined
    : {
        id,
        hash: fields.get("hash") ?? "",
        name: fields.get("name"),
        plan: fields.get("plan") ?? "",
        createdAt: numberOf("created_at") ?? 0,
        issuedTo: fields.get("issued_to"),
        lastUsedAt: numberOf("last_used_at"),
        revokedAt: numberOf("revoked_at"),
      };
}
