import {
  type Issued,
  type IssueTerms,
  type KeyRecord,
  type KeyStore,
  OutcomeUnknown,
  StoreUnavailable,
} from "../ports.ts";
import type { Redis, RedisScript } from "./connection.ts";
import {
  countScript,
  createAllScript,
  createScript,
  findByHashScript,
  pepperScript,
  pruneScript,
  replaceScript,
  revokeScript,
  touchScript,
  updateScript,
} from "./key-scripts.ts";
import { listOf, textsOf } from "./replies.ts";

const name = "keys:";

/** The maximum number of API keys for one run of a script. A run blocks Redis for about a millisecond. */
const atOnce = 250;

/** The operator must turn off eviction in Redis, because an evicted API key would be lost. */
export function createRedisKeyStore(redis: Redis): KeyStore {
  const isDown = () => redis.health.kind === "down";

  /** Throws OutcomeUnknown if the connection broke between sending the script and receiving the reply. */
  async function write(script: RedisScript, args: readonly (string | number)[]): Promise<unknown> {
    const wasDown = isDown();
    try {
      return await redis.run(script, [name], args);
    } catch (error) {
      if (error instanceof StoreUnavailable && !wasDown && isDown()) {
        throw new OutcomeUnknown(`${error.message}; the change may have been made`, { cause: error });
      }
      throw error;
    }
  }

  async function list(): Promise<readonly KeyRecord[]> {
    const ids = textsOf(await redis.ask("ZRANGE", [`${name}all`], [0, -1]));
    const records: KeyRecord[] = [];
    for (let at = 0; at < ids.length; at += atOnce) {
      const found = await Promise.all(ids.slice(at, at + atOnce).map(findById));
      records.push(...found.filter((record) => record !== undefined));
    }
    return records;
  }

  const findById = async (id: string) => recordFrom(await redis.ask("HGETALL", [`${name}id:${id}`]));

  return {
    async create(record, terms) {
      const args = JSON.stringify(argumentsFrom(record, terms));
      const [kind, ...rest] = listOf(await write(createScript, [args]));
      switch (kind) {
        case "created":
        case "full":
          return { kind };
        case "renewed": {
          const renewed = recordFrom(rest[0]);
          if (renewed === undefined) {
            throw new TypeError("Redis has renewed a key that it does not have");
          }
          return { kind, record: renewed };
        }
        case "too_many":
          return tooMany(rest, terms);
        default:
          throw new Error("a key with this id or hash is kept already");
      }
    },
    findByHash: async (hash) => recordFrom(await redis.run(findByHashScript, [name], [hash])),
    findById,
    async createAll(records) {
      const all = records.map((record) => argumentsFrom(record, undefined).record);
      if ((await write(createAllScript, [JSON.stringify(all)])) !== 1) {
        throw new Error("a key with one of these ids or hashes is kept already");
      }
    },
    list,
    revoke: async (id, at) => (await write(revokeScript, [id, at])) === 1,
    async update(id, { name, plan, expiresAt, endsBy, replacedBy }) {
      const removed = (value: string | number | null | undefined) => (value === null ? false : value);
      const change = { name: removed(name), plan, expires_at: removed(expiresAt), replaced_by: replacedBy };
      const reply = await write(updateScript, [id, JSON.stringify(change), endsBy ?? ""]);
      const [before, after] = listOf(reply).map(recordFrom);
      return before && after && { before, after };
    },
    async replace({ id, name, plan, expiresAt }, next, end) {
      const { record } = argumentsFrom(next, undefined);
      const ending = "revokedAt" in end ? { revoked_at: end.revokedAt } : { expires_at: end.expiresAt };
      const asked = { earlier: { id, name, plan, expires_at: expiresAt }, next: record, ending };
      const outcome = await write(replaceScript, [JSON.stringify(asked)]);
      if (outcome === "taken") {
        throw new Error("a key with this id or hash is kept already");
      }
      return outcome === "replaced";
    },
    async touch(uses) {
      const all = [...uses];
      for (let at = 0; at < all.length; at += atOnce) {
        await redis.run(touchScript, [name], all.slice(at, at + atOnce).flat());
      }
    },
    async prune({ endedBefore, unusedSince }, max) {
      return Number(await redis.run(pruneScript, [name], [endedBefore, unusedSince, max]));
    },
    async countByPlan() {
      const counts = new Map<string, number>();
      let from: readonly string[] = ["-inf", "0"];
      while (from.length > 0) {
        const reply = listOf(await redis.run(countScript, [name], [...from, atOnce]));
        const [next, plans] = [textsOf(reply[0]), textsOf(reply[1])];
        for (const plan of plans) {
          counts.set(plan, (counts.get(plan) ?? 0) + 1);
        }
        from = next;
      }
      return counts;
    },
    async pepperCheck() {
      const [kept, all, revoked] = await Promise.all([
        redis.ask("GET", [`${name}pepper`]),
        redis.ask("ZCARD", [`${name}all`]),
        redis.ask("ZCARD", [`${name}revoked`]),
      ]);
      return kept === null || kept === undefined || Number(all) <= Number(revoked) ? undefined : String(kept);
    },
    keepPepperCheck: async (value) => String(await redis.run(pepperScript, [name], [value])),
  };
}

function argumentsFrom(record: KeyRecord, terms: IssueTerms | undefined) {
  const { network, idempotencyKey } = terms ?? {};
  return {
    record: {
      id: record.id,
      hash: record.hash,
      name: record.name,
      plan: record.plan,
      created_at: record.createdAt,
      issued_to: record.issuedTo,
      last_used_at: record.lastUsedAt,
      revoked_at: record.revokedAt,
      expires_at: record.expiresAt,
      account: record.account,
      replaced_by: record.replacedBy,
      network: network?.name,
      wish: idempotencyKey === undefined ? undefined : `=${idempotencyKey}`,
    },
    terms: terms && {
      windowMs: terms.quota.windowMs,
      quota: terms.quota.max,
      networkQuota: terms.network?.max,
      keptMax: terms.keptMax,
      ...terms.ended,
    },
  };
}

function tooMany([of, oldest]: readonly unknown[], terms: IssueTerms | undefined): Issued {
  const { quota, network } = terms ?? {};
  const againAt = Number(oldest) + (quota?.windowMs ?? 0);
  return of === "address"
    ? { kind: "too_many", of, max: quota?.max ?? 0, againAt }
    : { kind: "too_many", of: "network", max: network?.max ?? 0, againAt };
}

/** Reads the reply of a command (an object) or of a script (a list of names and values). Undefined if the reply is empty. */
function recordFrom(reply: unknown): KeyRecord | undefined {
  const texts = (Array.isArray(reply) ? reply : Object.entries(reply ?? {}).flat()).map(String);
  const fields = new Map(texts.flatMap((text, at) => (at % 2 === 0 ? [[text, texts[at + 1] ?? ""]] : [])));
  const id = fields.get("id");
  const numberOf = (field: string) => {
    const text = fields.get(field);
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
        expiresAt: numberOf("expires_at"),
        account: fields.get("account"),
        replacedBy: fields.get("replaced_by"),
      };
}
