import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { uuidv7 } from "../request/context.ts";
import type { EndedKeys, Issued, IssueTerms, KeyRecord, KeyStore } from "../storage/ports.ts";

/** Issues keys and takes them back. */
export interface KeyIssuer {
  /** A new key, kept before it is shown. It is in no other answer again. */
  issue(wish: KeyWish): Promise<IssuedKey>;
  /** A new key for one that is valid no more from then on. Undefined where there is no such valid key. */
  rotate(id: string): Promise<IssuedKey | undefined>;
  /** False where there is no such key. */
  revoke(id: string): Promise<boolean>;
  list(): Promise<readonly KeyRecord[]>;
}

interface KeyWish {
  readonly name: string | undefined;
  /** Id of a plan. */
  readonly plan: string;
  /** Address of the caller who gets it without the operator. */
  readonly issuedTo?: string | undefined;
  /** On what terms; without, it is issued in any case. */
  readonly terms?: IssueTerms;
}

export type IssuedKey =
  | { readonly kind: "issued"; readonly key: string; readonly record: KeyRecord }
  | TooManyKeys
  | Extract<Issued, { readonly kind: "full" }>;

/** Of `max` keys in the window, the oldest leaves it after `waitMs`. */
export interface TooManyKeys extends Omit<Extract<Issued, { readonly kind: "too_many" }>, "againAt"> {
  readonly waitMs: number;
}

interface KeyIssuerOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  /** Told of which key a secret is valid no more. */
  readonly onEnded?: (id: string) => void;
  /** The time, in milliseconds since 1970: that of this machine, unless given. */
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
      // Dying in between leaves two keys, which is better than none.
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

/**
 * An API key: `kbz_`, 30 characters of chance (178 bits), and a checksum of them in 6, so that a key that was
 * mistyped or cut is refused without a look into the store.
 */
const prefix = "kbz_";
const chanceLength = 30;
const checksumLength = 6;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const shape = /^kbz_[0-9A-Za-z]{36}$/;

export function createApiKey(): string {
  let chance = "";
  while (chance.length < chanceLength) {
    for (const byte of randomBytes(chanceLength)) {
      // 248 is the greatest multiple of 62 in a byte: above it, some characters would come more often.
      if (byte < 248 && chance.length < chanceLength) {
        chance += alphabet[byte % 62];
      }
    }
  }
  return prefix + chance + checksumOf(chance);
}

/** Whether the text can be a key: its shape and its checksum are right. */
export function isApiKey(text: string): boolean {
  if (!shape.test(text)) {
    return false;
  }
  const checksumAt = prefix.length + chanceLength;
  return text.slice(checksumAt) === checksumOf(text.slice(prefix.length, checksumAt));
}

/** What is stored of a key: SHA-256 in hex, with a pepper HMAC-SHA-256. */
export function hashOfApiKey(key: string, pepper: string | undefined): string {
  return (pepper === undefined ? createHash("sha256") : createHmac("sha256", pepper))
    .update(key)
    .digest("hex");
}

/** Kept beside the keys, it tells whether they were hashed with this pepper. */
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

/** How long keys that have ended are still known, so that who uses one is told why it is refused. */
const toldMs = 30 * dayMs;

/** When keys that callers got by themselves are valid no more because nobody uses them. Keys of the operator always are. */
export interface KeyExpiry {
  /** Days without use; 0 if keys do not expire. */
  readonly days: number;
  /** When a key expires if it is not used again, in milliseconds since 1970; undefined if it does not. */
  expiresAt(key: KeyRecord): number | undefined;
  hasExpired(key: KeyRecord): boolean;
  /** Keys that need not be kept any more. */
  ended(): EndedKeys;
  /**
   * Keys that need not be kept where there is no room for others. One that was revoked in the last day still counts as
   * one that its address was issued.
   */
  endedAtLast(): EndedKeys;
}

/** @param sharedNow the time that nodes have together: then no key has ended that has not by both clocks. */
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
 * Milliseconds since 1970, rather too few than too many: a wall clock that jumps ahead while this process runs ends no
 * key, and one that was ahead when it started does so until it is corrected only.
 */
function createCautiousClock(): () => number {
  const startedAt = Date.now() - performance.now();
  return () => Math.floor(Math.min(Date.now(), startedAt + performance.now()));
}
