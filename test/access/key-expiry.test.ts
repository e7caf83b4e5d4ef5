import { afterEach, expect, test, vi } from "vitest";
import { createKeyExpiry } from "../../src/access/keys.ts";
import { keyRecord } from "../contract/access-stores.ts";

const dayMs = 86_400_000;
const key = keyRecord({ id: "a", issuedTo: "192.0.2.1", createdAt: Date.now() - 89 * dayMs });

afterEach(() => vi.useRealTimers());
const setClock = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

test("a wall clock that is set forward expires no key", () => {
  const expiry = createKeyExpiry(90);
  setClock(2 * dayMs);
  expect(expiry.hasExpired(key)).toBe(false);
  expect(expiry.ended().unusedSince).toBeLessThan(key.createdAt);
});

test("a wall clock that was ahead at the start expires no key once it is right", () => {
  setClock(2 * dayMs);
  const expiry = createKeyExpiry(90);
  expect(expiry.hasExpired(key)).toBe(true);
  vi.useRealTimers();
  expect(expiry.hasExpired(key)).toBe(false);
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
  expect([expiry.expiresAt(key), expiry.hasExpired(key)]).toEqual([undefined, false]);
  expect([expiry.ended().unusedSince, expiry.endedAtLast().unusedSince]).toEqual([0, 0]);
});
