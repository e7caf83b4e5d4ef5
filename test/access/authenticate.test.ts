import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createAuthenticator } from "../../src/access/authenticate.ts";
import { createKeyIssuer } from "../../src/access/key-issuer.ts";
import { createApiKey, createKeyExpiry, hashOfApiKey } from "../../src/access/keys.ts";
import { type KeyRecord, type KeyStore, StoreUnavailable } from "../../src/storage/ports.ts";
import { keyRecord } from "../contract/access-stores.ts";
import { openOwnStores } from "../support/own-stores.ts";

async function issued({ pepper }: { pepper?: string } = {}) {
  const { keys } = openOwnStores();
  const findByHash = vi.spyOn(keys, "findByHash");
  const authenticator = createAuthenticator({ keys, pepper });
  const desk = createKeyIssuer({ keys, pepper, onEnded: (id) => authenticator.forget(id) });
  const made = await desk.issue({ name: "a", plan: "free" });
  if (made.kind !== "issued") {
    throw new Error("not issued");
  }
  const { key, record } = made;
  return { keys, findByHash, authenticator, desk, key, id: record.id, header: `Bearer ${key}` };
}

const refused = expect.objectContaining({ code: "invalid_api_key" });
const errorOf = async (run: () => unknown) => {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** Returns a function that advances the timers and the clock of the key cache. */
function moveClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  // The key cache imports `performance` before the test replaces the timers, so fake timers would not change its clock.
  let now = 1_000_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => {
    clock.mockRestore();
    vi.useRealTimers();
  });
  return (ms) => {
    now += ms;
    vi.advanceTimersByTime(ms);
  };
}

describe("a header", () => {
  test.each([undefined, "a pepper of 16 characters"])(
    "a header with a valid key is accepted with the pepper %j",
    async (pepper) => {
      const { authenticator, header, id } = await issued(pepper === undefined ? {} : { pepper });
      expect(await authenticator.keyOf(header)).toMatchObject({ id });
      expect(await authenticator.keyOf(header.replace("Bearer ", "bearer  "))).toMatchObject({ id });
    },
  );

  test("a malformed Authorization header is refused without a look-up in the store, and the error does not repeat the header", async () => {
    const { authenticator, header, key, findByHash } = await issued();
    const headers = [
      "",
      " ",
      "Bearer",
      "Bearer ",
      key,
      `Basic ${key}`,
      `${header}, ${header}`,
      `${header} x`,
      header.slice(0, -1),
      `${header}0`,
      "Bearer kbz_0123456789abcdefghijABCDEFGHIJ123456",
    ];
    for (const one of headers) {
      const error = await errorOf(() => authenticator.keyOf(one));
      expect(error, one).toEqual(refused);
      expect(String(error)).not.toMatch(/kbz_[0-9A-Za-z]/);
    }
    expect(findByHash).not.toHaveBeenCalled();
  });

  test("a header whose key was created with another pepper is refused", async () => {
    const { keys, header } = await issued();
    const other = createAuthenticator({ keys, pepper: "a pepper of 16 characters" });
    expect(await errorOf(() => other.keyOf(header))).toEqual(refused);
  });

  test("a key is refused if the store returns a record with a different hash", async () => {
    const { keys, header, id } = await issued();
    const record = await keys.findById(id);
    const lying: KeyStore = {
      ...keys,
      findByHash: async () => (record ? { ...record, hash: "0".repeat(64) } : undefined),
    };
    const authenticator = createAuthenticator({ keys: lying, pepper: undefined });
    expect(await errorOf(() => authenticator.keyOf(header))).toEqual(refused);
  });

  test("if the look-up of a key fails, the next request looks up the key again", async () => {
    const { authenticator, findByHash, header, id } = await issued();
    findByHash.mockRejectedValueOnce(new Error("the disk is gone"));
    expect(await errorOf(() => authenticator.keyOf(header))).toEqual(new Error("the disk is gone"));
    expect(await authenticator.keyOf(header)).toMatchObject({ id });
  });
});

describe("a key that is known", () => {
  test("99 % of all requests with the same key find the key in the cache", async () => {
    const { authenticator, findByHash, header, id } = await issued();
    await authenticator.keyOf(header);
    for (let calls = 1; calls < 1000; calls++) {
      expect(await authenticator.keyOf(header)).toMatchObject({ id });
    }
    expect(findByHash).toHaveBeenCalledTimes(1);
    const { hits, misses } = authenticator.counters;
    expect(hits / (hits + misses)).toBeGreaterThanOrEqual(0.99);
  });

  test("concurrent requests with the same key share one look-up", async () => {
    const { authenticator, findByHash, header, id } = await issued();
    const found = await Promise.all(Array.from({ length: 50 }, () => authenticator.keyOf(header)));
    expect(new Set(found.map((record) => record.id))).toEqual(new Set([id]));
    expect(findByHash).toHaveBeenCalledTimes(1);
  });

  test("a cached key is refused immediately after its revocation in the same process", async () => {
    const { authenticator, desk, header, id } = await issued();
    await authenticator.keyOf(header);
    expect(await desk.revoke(id)).toBe(true);
    expect(await errorOf(() => authenticator.keyOf(header))).toEqual(refused);
  });

  test("a key that another node has revoked is refused within 5 s, even without a message from that node", async () => {
    const advance = moveClock();
    const { authenticator, keys, header, id } = await issued();
    await authenticator.keyOf(header);
    await createKeyIssuer({ keys, pepper: undefined }).revoke(id);
    expect(await authenticator.keyOf(header)).toMatchObject({ id });
    advance(5000);
    expect(await errorOf(() => authenticator.keyOf(header))).toEqual(refused);
  });

  test("many calls with a key write the time of its last use only once", async () => {
    const { authenticator, keys, header, id } = await issued();
    const touch = vi.spyOn(keys, "touch");
    await authenticator.keyOf(header);
    await authenticator.keyOf(header);
    expect(touch).not.toHaveBeenCalled();
    const before = Date.now();
    await authenticator.flush();
    await authenticator.flush();
    expect(touch).toHaveBeenCalledTimes(1);
    expect((await keys.findById(id))?.lastUsedAt).toBeLessThanOrEqual(before);
  });

  test("if the time of a key's last use cannot be written, the write is repeated later", async () => {
    const { authenticator, keys, header, id } = await issued();
    vi.spyOn(keys, "touch").mockRejectedValueOnce(new Error("full"));
    await authenticator.keyOf(header);
    await expect(authenticator.flush()).rejects.toThrow("full");
    await authenticator.flush();
    expect((await keys.findById(id))?.lastUsedAt).toBeDefined();
  });
});

describe("a key that is not used for 90 days", () => {
  const dayMs = 86_400_000;

  async function keyOfAge(days: number, overrides: Partial<KeyRecord>) {
    const { keys } = openOwnStores();
    const key = createApiKey();
    const createdAt = Date.now() - days * dayMs;
    await keys.create(keyRecord({ id: "a", hash: hashOfApiKey(key, undefined), createdAt, ...overrides }));
    return { keys, header: `Bearer ${key}` };
  }

  const authenticatorOf = (keys: KeyStore, days = 90) =>
    createAuthenticator({ keys, pepper: undefined, expiry: createKeyExpiry(days) });

  test("a self-service key is refused as expired if it was not used for 90 days", async () => {
    const { keys, header } = await keyOfAge(91, { issuedTo: "192.0.2.1" });
    const error = await errorOf(() => authenticatorOf(keys).keyOf(header));
    expect(error).toMatchObject({
      code: "invalid_api_key",
      nextAction: "get_api_key",
      message: expect.stringContaining("was not used for 90 days"),
    });
  });

  test.each([
    ["created 89 days ago", 89, { issuedTo: "192.0.2.1" }, 90],
    ["used 89 days ago", 91, { issuedTo: "192.0.2.1", lastUsedAt: Date.now() - 89 * dayMs }, 90],
    ["of the operator", 1000, {}, 90],
    ["on a server where keys do not expire", 1000, { issuedTo: "192.0.2.1" }, 0],
  ])("a key %s is still valid", async (_, days, overrides, expiryDays) => {
    const { keys, header } = await keyOfAge(days, overrides);
    expect(await authenticatorOf(keys, expiryDays).keyOf(header)).toMatchObject({ id: "a" });
  });

  test("a key expires 90 days after its last use", async () => {
    const { keys, header } = await keyOfAge(89.99, { issuedTo: "192.0.2.1" });
    const authenticator = authenticatorOf(keys);
    await authenticator.keyOf(header);
    await authenticator.flush();
    const later = createKeyExpiry(90).expiresAt((await keys.findById("a")) as KeyRecord);
    expect(later).toBeGreaterThan(Date.now() + 89 * dayMs);
  });
});

describe("while the store is unavailable", () => {
  async function openUnavailable() {
    const advance = moveClock();
    const { keys, findByHash, authenticator, desk, header, id } = await issued();
    const goAway = () => findByHash.mockRejectedValue(new StoreUnavailable("gone"));
    const comeBack = () => findByHash.mockRestore();
    return { advance, keys, findByHash, authenticator, desk, header, id, goAway, comeBack };
  }

  test("while the store is unavailable, a key is accepted for a minute after its last look-up, and an unknown key is refused", async () => {
    const { advance, authenticator, desk, header, id, goAway } = await openUnavailable();
    const other = await desk.issue({ name: "b", plan: "free" });
    await authenticator.keyOf(header);
    goAway();
    for (const afterMs of [10, 5000, 54_980]) {
      advance(afterMs);
      expect(await authenticator.keyOf(header)).toMatchObject({ id });
      await expect(authenticator.keyOf(`Bearer ${"key" in other && other.key}`)).rejects.toThrow(
        StoreUnavailable,
      );
    }
    advance(10);
    await expect(authenticator.keyOf(header)).rejects.toThrow(StoreUnavailable);
  });

  test("while the store is unavailable, a revoked key is refused", async () => {
    const { authenticator, header, id, goAway } = await openUnavailable();
    await authenticator.keyOf(header);
    goAway();
    authenticator.forget(id);
    await expect(authenticator.keyOf(header)).rejects.toThrow(StoreUnavailable);
  });

  test("a key that another process revoked during an outage of the store is refused after the outage", async () => {
    const { advance, keys, authenticator, header, id, goAway, comeBack } = await openUnavailable();
    await authenticator.keyOf(header);
    goAway();
    await createKeyIssuer({ keys, pepper: undefined }).revoke(id);
    advance(10_000);
    expect(await authenticator.keyOf(header)).toMatchObject({ id });
    comeBack();
    await expect(authenticator.keyOf(header)).rejects.toMatchObject({ code: "invalid_api_key" });
  });

  test("a cached key is not accepted if its look-up fails with an unexpected error", async () => {
    const { advance, findByHash, authenticator, header } = await openUnavailable();
    await authenticator.keyOf(header);
    advance(4000);
    findByHash.mockRejectedValue(new Error("a bug"));
    await expect(authenticator.keyOf(header)).rejects.toThrow("a bug");
  });
});

test("a look-up of a key finishes even if the key is removed from the cache during the look-up", async () => {
  const advance = moveClock();
  const { keys, findByHash, authenticator, header, id } = await issued();
  await authenticator.keyOf(header);
  advance(3100);
  const answer = Promise.withResolvers<KeyRecord | undefined>();
  findByHash.mockReturnValueOnce(answer.promise);
  const asked = authenticator.keyOf(header);
  authenticator.forget(id);
  answer.resolve(await keys.findById(id));
  expect(await asked).toMatchObject({ id });
});
