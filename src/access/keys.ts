import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { EndedKeys, KeyRecord } from "../storage/ports.ts";

/** A key is `kbz_`, 30 random characters (178 bits) and their checksum, which shows a mistyped key without a look-up. */
const prefix = "kbz_";
const randomLength = 30;
const checksumLength = 6;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const shape = /^kbz_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

export function createApiKey(): string {
  let random = "";
  while (random.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      // Only bytes below 248, the greatest multiple of 62 in a byte, are used. Otherwise some characters would be more frequent.
      if (byte < 248 && random.length < randomLength) {
        random += alphabet[byte % 62];
      }
    }
  }
  return prefix + random + checksumOf(random);
}

/** True if a text has the shape and the checksum of a key. */
export function isApiKey(text: string): boolean {
  const [, random, checksum] = shape.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
}

/** Returns the hash under which a key is stored, in hexadecimal: SHA-256 without a pepper, HMAC-SHA-256 with one. */
export function hashOfApiKey(key: string, pepper: string | undefined): string {
  return (pepper === undefined ? createHash("sha256") : createHmac("sha256", pepper))
    .update(key)
    .digest("hex");
}

/** Stored beside the keys, to show later whether they were hashed with the same pepper. */
export function checkValueOf(pepper: string | undefined): string {
  return hashOfApiKey("kibitz: which pepper the keys here were hashed with", pepper);
}

/** Returns the CRC32 of a text in base 62. */
function checksumOf(random: string): string {
  let rest = crc32(random);
  let digits = "";
  for (let count = 0; count < checksumLength; count++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

export const dayMs = 86_400_000;

/** Ended keys are stored for this time, so that the error for such a key can say why it is rejected. */
const endedMs = 30 * dayMs;

/** The rule for the expiry of unused self-service keys. Keys of the operator do not expire. */
export interface KeyExpiry {
  /** A key expires after this number of days without use. 0: keys do not expire. */
  readonly days: number;
  /** Returns milliseconds since 1970 at which the key expires if it is not used again; undefined if it never does. */
  expiresAt(key: KeyRecord): number | undefined;
  hasExpired(key: KeyRecord): boolean;
  /** Terms of keys that may be deleted. */
  ended(): EndedKeys;
  /** Terms of keys that may be deleted if there is no room. A key revoked within a day still counts in its address's quota. */
  endedAtLast(): EndedKeys;
}

/** A key expires only when the local clock and `sharedNow`, the clock that all nodes share, agree. */
export function createKeyExpiry(days: number, sharedNow?: () => number): KeyExpiry {
  const unusedMaxMs = days * dayMs;
  const startedAt = Date.now() - performance.now();
  /** The earliest of several clocks, so that a wall clock that jumps ahead expires or deletes no key. */
  const now = () =>
    Math.floor(
      Math.min(Date.now(), startedAt + performance.now(), sharedNow?.() ?? Number.POSITIVE_INFINITY),
    );
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
    ended: () => endedFor(endedMs),
    endedAtLast: () => endedFor(dayMs),
  };
}
