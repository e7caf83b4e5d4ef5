import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { uuidv7 } from "../request/context.ts";
import type { EndedKeys, Issued, IssueTerms, KeyRecord, KeyStore } from "../storage/ports.ts";

/** Issues, rotates and revokes keys. */
export interface KeyIssuer {
  /** Issues a new key, which is stored before it is returned. Only its hash is kept. */
  issue(wish: KeyWish): Promise<IssuedKey>;
  /** Replaces a key by a new one, and revokes it. Undefined if there is no such valid key. */
  rotate(id: string): Promise<IssuedKey | undefined>;
  /** False if there is no such key. */
  revoke(id: string): Promise<boolean>;
  list(): Promise<readonly KeyRecord[]>;
}

interface KeyWish {
  readonly name: string | undefined;
  /** Id of a plan. */
  readonly plan: string;
  /** For self-service keys: the address of the caller. */
  readonly issuedTo?: string | undefined;
  /** The conditions for issuing it; none if undefined. */
  readonly terms?: IssueTerms;
}

export type IssuedKey =
  | { readonly kind: "issued"; readonly key: string; readonly record: KeyRecord }
  | TooManyKeys
  | Extract<Issued, { readonly kind: "full" }>;

/** All `max` keys of the window are issued; the oldest of them leaves the window after `waitMs`. */
export interface TooManyKeys extends Omit<Extract<Issued, { readonly kind: "too_many" }>, "againAt"> {
  readonly waitMs: number;
}

interface KeyIssuerOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  /** Called with the id of a key whose secret is no longer valid. */
  readonly onEnded?: (id: string) => void;
  /** The time in milliseconds since 1970. Default: that of this machine. */
  readonly now?: () => number;
}

export function createKeyIssuer({
  keys,
  pepper,
  onEnded = () => {},
  now = () => Date.now(),
}: KeyIssuerOptions): KeyIssuer {
  const issuer: KeyIssuer = {
    async issue({ name, plan, issuedTo, terms }) {
      const key = createApiKey();
      const record: KeyRecord = {
        id: uuidv7(),
        hash: hashOfApiKey(key, pepper),
        name,
        plan,
        createdAt: now(),
        issuedTo,
        lastUsedAt: undefined,
        revokedAt: undefined,
      };
      const issued = await keys.create(record, terms);
      switch (issued.kind) {
        case "created":
          return { kind: "issued", key, record };
        case "renewed":
          onEnded(issued.record.id);
          return { kind: "issued", key, record: issued.record };
        case "too_many": {
          const { kind, of, max, againAt } = issued;
          return { kind, of, max, waitMs: againAt - record.createdAt };
        }
        case "full":
          return issued;
      }
    },
    async rotate(id) {
      const record = await keys.findById(id);
      if (record === undefined || record.revokedAt !== undefined) {
        return undefined;
      }
      // If the process dies in between, two keys remain, which is better than none.
      const { name, plan, issuedTo } = record;
      const issued = await issuer.issue({ name, plan, issuedTo });
      await issuer.revoke(id);
      return issued;
    },
    async revoke(id) {
      const known = await keys.revoke(id, now());
      onEnded(id);
      return known;
    },
    list: () => keys.list(),
  };
  return issuer;
}

/** An API key: `kbz_`, 30 random characters (178 bits), and their checksum in 6, so that a mistyped or truncated key is refused without a look-up. */
const prefix = "kbz_";
const chanceLength = 30;
const checksumLength = 6;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const shape = /^kbz_[0-9A-Za-z]{36}$/;

export function createApiKey(): string {
  let chance = "";
  while (chance.length < chanceLength) {
    for (const byte of randomBytes(chanceLength)) {
      // 248 is the greatest multiple of 62 in a byte: with greater bytes, some characters would be more frequent.
      if (byte < 248 && chance.length < chanceLength) {
        chance += alphabet[byte % 62];
      }
    }
  }
  return prefix + chance + checksumOf(chance);
}

/** Tests the shape and the checksum of a key. */
export function isApiKey(text: string): boolean {
  if (!shape.test(text)) {
    return false;
  }
  const checksumAt = prefix.length + chanceLength;
  return text.slice(checksumAt) === checksumOf(text.slice(prefix.length, checksumAt));
}

/** The hash under which a key is stored: SHA-256 in hex, with a pepper HMAC-SHA-256. */
export function hashOfApiKey(key: string, pepper: string | undefined): string {
  return (pepper === undefined ? createHash("sha256") : createHmac("sha256", pepper))
    .update(key)
    .digest("hex");
}

/** Stored beside the keys, to find out later if they were hashed with this pepper. */
export function checkValueOf(pepper: string | undefined): string {
  return hashOfApiKey("kibitz: which pepper the keys here were hashed with", pepper);
}

/** CRC32 in base 62. */
function checksumOf(chance: string): string {
  let rest = crc32(chance);
  let digits = "";
  for (let count = 0; count < checksumLength; count++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

const dayMs = 86_400_000;

/** For how long keys that have ended are kept, so that their refusal can say why. */
const toldMs = 30 * dayMs;

/** When unused self-service keys expire. Keys of the operator do not. */
export interface KeyExpiry {
  /** Days without use; 0 if keys do not expire. */
  readonly days: number;
  /** When a key expires if it is not used again, in milliseconds since 1970; undefined if it does not. */
  expiresAt(key: KeyRecord): number | undefined;
  hasExpired(key: KeyRecord): boolean;
  /** Keys that may be deleted. */
  ended(): EndedKeys;
  /** Keys that may be deleted if there is no room for others. A key that was revoked in the last day still counts in the quota of its address. */
  endedAtLast(): EndedKeys;
}

/** @param sharedNow the clock that nodes share: then a key has expired only if it has by both clocks */
export function createKeyExpiry(days: number, sharedNow?: () => number): KeyExpiry {
  const unusedMaxMs = days * dayMs;
  const ownNow = createCautiousClock();
  const now = () => Math.min(ownNow(), sharedNow?.() ?? Number.POSITIVE_INFINITY);
  const expiresAt = ({ issuedTo, createdAt, lastUsedAt = 0 }: KeyRecord) =>
    days === 0 || issuedTo === undefined ? undefined : Math.max(createdAt, lastUsedAt) + unusedMaxMs;
  const endedFor = (ms: number): EndedKeys => ({
    revokedBefore: now() - ms,
    unusedSince: days === 0 ? 0 : now() - unusedMaxMs - ms,
  });
  return {
    days,
    expiresAt,
    hasExpired: (key) => (expiresAt(key) ?? Number.POSITIVE_INFINITY) <= now(),
    ended: () => endedFor(toldMs),
    endedAtLast: () => endedFor(dayMs),
  };
}

/**
 * Milliseconds since 1970, rather too few than too many: a wall clock that jumps ahead while this process runs expires no
 * key, and a clock that was ahead when the process started does so only until it is corrected.
 */
function createCautiousClock(): () => number {
  const startedAt = Date.now() - performance.now();
  return () => Math.floor(Math.min(Date.now(), startedAt + performance.now()));
}
