import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

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
