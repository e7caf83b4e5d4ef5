import { afterEach, expect, test, vi } from "vitest";
import { createApiKey, createKeyExpiry, hashOfApiKey, isApiKey } from "../../src/access/keys.ts";
import { keyRecord } from "../contract/access-stores.ts";

test("a key is kbz_ and 36 letters and digits, and never the same", () => {
  const keys = Array.from({ length: 500 }, createApiKey);
  for (const key of keys) {
    expect(key).toMatch(/^kbz_[0-9A-Za-z]{36}$/);
    expect(isApiKey(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(500);
  // Every character of the alphabet comes.
  expect(new Set(keys.join("")).size).toBe(63);
});

test("the checksum is CRC32 in base 62, so that others can check it, too", () => {
  expect(isApiKey("kbz_0000000000000000000000000000003bxAFg")).toBe(false);
  expect(isApiKey(`kbz_${"0".repeat(30)}${checksumOfZeros}`)).toBe(true);
});

/** `zlib.crc32("0" × 30)` is 2011552642, which python writes so in base 62. */
const checksumOfZeros = "2C8GjS";

test("a key with one character changed, two swapped, cut or longer is none", () => {
  const key = createApiKey();
  for (let at = 0; at < key.length; at++) {
    const changed = key[at] === "x" ? "y" : "x";
    expect(isApiKey(key.slice(0, at) + changed + key.slice(at + 1))).toBe(false);
    expect(isApiKey(key.slice(0, at) + key.slice(at + 1))).toBe(false);
    const [a = "", b = ""] = key.slice(at, at + 2);
    if (a !== b && b !== "") {
      expect(isApiKey(key.slice(0, at) + b + a + key.slice(at + 2))).toBe(false);
    }
  }
  for (const other of ["", `${key} `, `${key}\n`, ` ${key}`, `${key}0`, key.toUpperCase()]) {
    expect(isApiKey(other)).toBe(false);
  }
});

test("a key is stored as SHA-256, and with a pepper as HMAC-SHA-256", () => {
  expect(hashOfApiKey("abc", undefined)).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  // RFC 4231, test case 2.
  expect(hashOfApiKey("what do ya want for nothing?", "Jefe")).toBe(
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});

const dayMs = 86_400_000;
const unused = keyRecord({ id: "a", issuedTo: "192.0.2.1", createdAt: Date.now() - 89 * dayMs });

afterEach(() => vi.useRealTimers());
const setClock = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

test("a wall clock that is set forward expires no key", () => {
  const expiry = createKeyExpiry(90);
  setClock(2 * dayMs);
  expect(expiry.hasExpired(unused)).toBe(false);
  expect(expiry.ended().unusedSince).toBeLessThan(unused.createdAt);
});

test("a wall clock that was ahead at the start expires no key once it is right", () => {
  setClock(2 * dayMs);
  const expiry = createKeyExpiry(90);
  expect(expiry.hasExpired(unused)).toBe(true);
  vi.useRealTimers();
  expect(expiry.hasExpired(unused)).toBe(false);
});

test("ended keys are kept for 30 days, or for the day in which they count if there is no room", () => {
  setClock(0);
  const now = Date.now();
  expect(createKeyExpiry(90).ended()).toEqual({
    revokedBefore: expect.closeTo(now - 30 * dayMs, -4),
    unusedSince: expect.closeTo(now - 120 * dayMs, -4),
  });
  expect(createKeyExpiry(90).endedAtLast()).toEqual({
    revokedBefore: expect.closeTo(now - dayMs, -4),
    unusedSince: expect.closeTo(now - 91 * dayMs, -4),
  });
});

test("keys that do not expire are never taken for unused", () => {
  const expiry = createKeyExpiry(0);
  expect([expiry.expiresAt(unused), expiry.hasExpired(unused)]).toEqual([undefined, false]);
  expect([expiry.ended().unusedSince, expiry.endedAtLast().unusedSince]).toEqual([0, 0]);
});
