import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { EndedKeys, KeyRecord } from "../storage/ports.ts";

/** An API key: `kbz_`, 30 random characters (178 bits), and their checksum in 6, so that a mistyped or truncated key is refused without a look-up. */
const prefix = "kbz_";
const randomLength = 30;
const checksumLength = 6;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const shape = /^kbz_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

export function createApiKey(): string {
  let random = "";
  while (random.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      // 248 is the greatest multiple of 62 in a byte: with greater bytes, some characters would be more frequent.
      if (byte < 248 && random.length < randomLength) {
        random += alphabet[byte % 62];
      }
    }
  }
  return prefix + random + checksumOf(random);
}

/** Tests the shape and the checksum of a key. */
export function isApiKey(text: string): boolean {
  const [, random, checksum] = shape.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
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

/** For how long ended keys are stored, so that their refusal can say why. */
const endedMs = 30 * dayMs;

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

/** @param sharedNow the clock that nodes share: a key has expired only if it has by both clocks */
export function createKeyExpiry(days: number, sharedNow?: () => number): KeyExpiry {
  const unusedMaxMs = days * dayMs;
  const startedAt = Date.now() - performance.now();
  /** A wall clock that jumps ahead must expire and delete no key. */
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
