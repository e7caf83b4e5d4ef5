import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { EndedKeys, KeyRecord } from "../storage/ports.ts";

/**
 * An API key is `kbz_`, 30 random characters (178 bits) and a checksum. The checksum reveals a mistyped key without a look-up.
 */
const prefix = "kbz_";
const randomLength = 30;
const checksumLength = 6;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const shape = /^kbz_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

export function createApiKey(): string {
  let random = "";
  while (random.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      // Use only bytes below 248, the greatest multiple of 62 in a byte. Otherwise some characters would be more frequent.
      if (byte < 248 && random.length < randomLength) {
        random += alphabet[byte % 62];
      }
    }
  }
  return prefix + random + checksumOf(random);
}

/** Checks only the format and the checksum. The key may be unknown. */
export function isApiKey(text: string): boolean {
  const [, random, checksum] = shape.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
}

/** Returns a hexadecimal hash for the store: HMAC-SHA-256 with the secret `pepper`, or SHA-256 if there is no pepper. */
export function hashOfApiKey(key: string, pepper: string | undefined): string {
  return (pepper === undefined ? createHash("sha256") : createHmac("sha256", pepper))
    .update(key)
    .digest("hex");
}

/**
 * Returns a value that is stored with the keys. The stored value shows at the next start if the operator has changed the
 * pepper.
 */
export function checkValueOf(pepper: string | undefined): string {
  return hashOfApiKey("kibitz: which pepper the keys here were hashed with", pepper);
}

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

/** Revoked and expired keys stay in the store for this time, so that an error can explain why such a key is rejected. */
const endedMs = 30 * dayMs;

/** Decides when an unused key expires. Keys that the operator created never expire. */
export interface KeyExpiry {
  /** Days without use after which a key expires. 0: keys never expire. */
  readonly days: number;
  /** Returns the time at which an unused key expires, in milliseconds since 1970. Undefined if the key never expires. */
  expiresAt(key: KeyRecord): number | undefined;
  hasExpired(key: KeyRecord): boolean;
  /** Returns the conditions for deleting an ended key at any time. */
  ended(): EndedKeys;
  /**
   * Returns the conditions for deleting an ended key if the store is full. A key that was revoked within the last day is not
   * deleted, because this key still uses the quota of its address.
   */
  endedIfFull(): EndedKeys;
}

/**
 * @param sharedNow returns the time of a clock that all nodes share; a key must be expired by this clock and by the local clock
 */
export function createKeyExpiry(days: number, sharedNow?: () => number): KeyExpiry {
  const unusedMaxMs = days * dayMs;
  const startedAt = Date.now() - performance.now();
  /** Returns the time of the slowest clock. A key must not expire because another clock jumped ahead. */
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
    endedIfFull: () => endedFor(dayMs),
  };
}
