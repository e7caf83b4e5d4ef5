import { afterEach, expect, test, vi } from "vitest";
import { createApiKey, createKeyExpiry, hashOfApiKey, isApiKey } from "../../src/access/keys.ts";
import { keyRecord } from "../contract/access-stores.ts";

test("a new key consists of kbz_ and 36 random letters and digits", () => {
  const keys = Array.from({ length: 500 }, createApiKey);
  for (const key of keys) {
    expect(key).toMatch(/^kbz_[0-9A-Za-z]{36}$/);
    expect(isApiKey(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(500);
  // `kbz_` contains the underscore, therefore the set has 63 characters and not 62.
  expect(new Set(keys.join("")).size).toBe(63);
});

test("the checksum of a key is CRC32 in base 62", () => {
  expect(isApiKey("kbz_0000000000000000000000000000003bxAFg")).toBe(false);
  expect(isApiKey(`kbz_${"0".repeat(30)}${checksumOfZeros}`)).toBe(true);
});

/** Computed in Python: `zlib.crc32(b"0" * 30)` is 2011552642, which is `2C8GjS` in base 62. */
const checksumOfZeros = "2C8GjS";

test("a key that is mistyped, too short or too long is invalid", () => {
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

test("the stored hash of a key is SHA-256, or HMAC-SHA-256 with a pepper", () => {
  expect(hashOfApiKey("abc", undefined)).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  // The expected hash is test case 2 of RFC 4231.
  expect(hashOfApiKey("what do ya want for nothing?", "Jefe")).toBe(
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});

const dayMs = 86_400_000;
const unused = keyRecord({ id: "a", issuedTo: "192.0.2.1", createdAt: Date.now() - 89 * dayMs });

afterEach(() => vi.useRealTimers());
const setClock = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

test("setting the wall clock forward does not make a key expire", () => {
  const expiry = createKeyExpiry(90);
  setClock(2 * dayMs);
  expect(expiry.hasExpired(unused)).toBe(false);
  expect(expiry.ended().unusedSince).toBeLessThan(unused.createdAt);
});

test("a key that expired because of a wrong wall clock is valid after the clock is corrected", () => {
  setClock(2 * dayMs);
  const expiry = createKeyExpiry(90);
  expect(expiry.hasExpired(unused)).toBe(true);
  vi.useRealTimers();
  expect(expiry.hasExpired(unused)).toBe(false);
});

test("revoked and expired keys are deleted after 30 days, or after a day if the store is full", () => {
  setClock(0);
  const now = Date.now();
  expect(createKeyExpiry(90).ended()).toEqual({
    endedBefore: expect.closeTo(now - 30 * dayMs, -4),
    unusedSince: expect.closeTo(now - 120 * dayMs, -4),
  });
  expect(createKeyExpiry(90).endedIfFull()).toEqual({
    endedBefore: expect.closeTo(now - dayMs, -4),
    unusedSince: expect.closeTo(now - 91 * dayMs, -4),
  });
});

test("an unused key stays valid if the expiry of keys is disabled", () => {
  const expiry = createKeyExpiry(0);
  expect([expiry.expiresAt(unused), expiry.hasExpired(unused)]).toEqual([undefined, false]);
  expect([expiry.ended().unusedSince, expiry.endedIfFull().unusedSince]).toEqual([0, 0]);
});
