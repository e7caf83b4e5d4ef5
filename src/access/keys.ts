import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { dayMs, keyRules } from "../storage/key-rules.ts";
import type { EndedKeys, KeyRecord } from "../storage/ports.ts";
import { now, wall } from "../time/time.ts";

/** An API key is `kbz_`, 30 random characters (178 bits) and a checksum. The checksum shows that a key is mistyped. */
const prefix = "kbz_";
const randomLength = 30;
const checksumLength = 6;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const shape = /^kbz_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

export function createApiKey(): string {
  let random = "";
  while (random.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      // Use only bytes below 248, the greatest multiple of 62. Otherwise some characters would be more frequent.
      if (byte < 248 && random.length < randomLength) {
        random += alphabet[byte % 62];
      }
    }
  }
  return prefix + random + checksumOf(random);
}

export function isApiKey(text: string): boolean {
  const [, random, checksum] = shape.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
}

/** Returns the hexadecimal HMAC-SHA-256 with the secret `pepper`, or SHA-256 if `pepper` is undefined. */
export function hashOfApiKey(key: string, pepper: string | undefined): string {
  return (pepper === undefined ? createHash("sha256") : createHmac("sha256", pepper))
    .update(key)
    .digest("hex");
}

/** Returns a value that is stored with the keys. At the next start, this value shows if the operator has changed the pepper. */
export function checkValueOf(pepper: string | undefined): string {
  return hashOfApiKey("kibitz: which pepper the keys here were hashed with", pepper);
}

/** Describes the pepper of keys whose check value is not the one of `pepper`, for a message: the keys were made … */
export function pepperOfOthers(checkValue: string | undefined, pepper: string | undefined): string {
  return checkValue === checkValueOf(undefined)
    ? "without a pepper"
    : pepper === undefined
      ? "with a pepper, and none is set"
      : "with another pepper";
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

/** Keys that the operator created expire only if the operator has set an end. */
export interface KeyExpiry {
  readonly days: number;
  /** Returns milliseconds since 1970. Undefined if the key never expires. */
  expiresAt(key: KeyRecord): number | undefined;
  hasExpired(key: KeyRecord): boolean;
  ended(): EndedKeys;
  /** Does not include keys revoked within the last day, because these keys still use the quota of their address. */
  endedIfFull(): EndedKeys;
}

/** `sharedNow` is the time of a clock that all nodes share. A key expires only if it has expired by all clocks. */
export function createKeyExpiry(days: number, sharedNow?: () => number): KeyExpiry {
  const unusedMaxMs = days * dayMs;
  const startedAt = wall() - now();
  /** Returns the earliest time of all clocks. A key must not expire because one clock jumped ahead. */
  const time = () =>
    Math.floor(Math.min(wall(), startedAt + now(), sharedNow?.() ?? Number.POSITIVE_INFINITY));
  const unusedAt = ({ issuedTo, createdAt, lastUsedAt = 0 }: KeyRecord) =>
    days === 0 || issuedTo === undefined ? undefined : Math.max(createdAt, lastUsedAt) + unusedMaxMs;
  const expiresAt = (key: KeyRecord) => {
    const ends = [key.expiresAt, unusedAt(key)].filter((end) => end !== undefined);
    return ends.length === 0 ? undefined : Math.min(...ends);
  };
  const endedFor = (ms: number): EndedKeys => ({
    endedBefore: time() - ms,
    unusedSince: days === 0 ? 0 : time() - unusedMaxMs - ms,
  });
  return {
    days,
    expiresAt,
    hasExpired: (key) => (expiresAt(key) ?? Number.POSITIVE_INFINITY) <= time(),
    ended: () => endedFor(keyRules.endedKeptMs),
    endedIfFull: () => endedFor(keyRules.endedKeptIfFullMs),
  };
}
