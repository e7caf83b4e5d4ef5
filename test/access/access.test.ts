import { expect, test, vi } from "vitest";
import { createAccess, mapStoreErrors } from "../../src/access/access.ts";
import { createAuthenticator } from "../../src/access/authenticate.ts";
import { createKeyIssuer } from "../../src/access/keys.ts";
import { createMemoryLimits } from "../../src/access/limits.ts";
import { builtInPlans } from "../../src/access/plans.ts";
import { createMemoryKeyStore } from "../../src/storage/memory/key-store.ts";
import { createMemoryUsageStore } from "../../src/storage/memory/usage-store.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/storage/ports.ts";
import { keyRecord } from "../contract/access-stores.ts";

const dayMs = 86_400_000;

/** A node that shares its keys with others, and whose own clock is so much ahead. */
async function startNode(aheadMs: number) {
  const sharedNow = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: sharedNow + aheadMs });
  const keys = createMemoryKeyStore();
  const rest = { keysPerDay: 3, keyExpiryDays: 90, selfServiceKeysMax: 100, pepper: undefined };
  const access = await createAccess({
    ...{ mode: "public", plans: builtInPlans, trustedProxies: [], log: { warn() {} } },
    ...rest,
    stores: { keys },
    shared: {
      limits: await createMemoryLimits([], createMemoryUsageStore()),
      grace: { awaySince: () => undefined, ms: 0 },
      onKeyEnded() {},
      now: () => sharedNow,
    },
  });
  return { access, keys, sharedNow, [Symbol.dispose]: () => void vi.useRealTimers() };
}

test("a node whose clock is ahead forgets no key too early", async () => {
  using node = await startNode(150 * dayMs);
  const record = keyRecord({ id: "a", issuedTo: "192.0.2.1", createdAt: node.sharedNow - 89 * dayMs });
  await node.keys.create(record);
  await node.access.prune();
  expect(await node.keys.findById("a")).toEqual(record);
});

test.each([-100 * dayMs, 100 * dayMs])(
  "an address that has had all keys of a day is told the wait by the shared clock: %i ms off",
  async (aheadMs) => {
    using node = await startNode(aheadMs);
    const wish = { address: "192.0.2.1", name: undefined, idempotencyKey: undefined };
    const issue = () => node.access.selfService?.issue(wish);
    expect([await issue(), await issue(), await issue()]).toMatchObject(Array(3).fill({ kind: "issued" }));
    expect(await issue()).toEqual({ kind: "too_many", of: "address", max: 3, waitMs: dayMs });
  },
);

test.each([-100 * dayMs, 100 * dayMs])(
  "keys are made, used and revoked by the clock that nodes share: %i ms off",
  async (aheadMs) => {
    using node = await startNode(aheadMs);
    const { access, keys, sharedNow } = node;
    const issued = await access.keys.issue({ name: undefined, plan: "free" });
    if (issued.kind !== "issued") {
      throw new Error("not issued");
    }
    const { key, record } = issued;
    await access.accountOf({ address: "192.0.2.1", forwardedFor: undefined, authorization: `Bearer ${key}` });
    await access.flush();
    await access.keys.revoke(record.id);
    expect(await keys.findById(record.id)).toMatchObject({
      createdAt: sharedNow,
      lastUsedAt: sharedNow,
      revokedAt: sharedNow,
    });
  },
);

const unavailable = { code: "store_unavailable", nextAction: "retry_later", retryAfterMs: 5000 };

/** A store that has one key, and keys behind it as calls see them. */
async function openKeys() {
  const store = createMemoryKeyStore();
  const keys = mapStoreErrors(store);
  const issued = await createKeyIssuer({ keys, pepper: undefined }).issue({ name: undefined, plan: "free" });
  if (issued.kind !== "issued") {
    throw new Error("not issued");
  }
  return { store, keys, ...issued };
}

test("a key that cannot be looked up is neither valid nor invalid, and a known key stays valid", async () => {
  const { store, keys, key, record } = await openKeys();
  const fails = vi.spyOn(store, "findByHash").mockRejectedValue(new StoreUnavailable("the disk is gone"));
  const known = createAuthenticator({ keys, pepper: undefined });
  await expect(known.keyOf(`Bearer ${key}`)).rejects.toMatchObject(unavailable);
  fails.mockRestore();
  await known.keyOf(`Bearer ${key}`);
  vi.spyOn(store, "findByHash").mockRejectedValue(new StoreUnavailable("the disk is gone"));
  expect(await known.keyOf(`Bearer ${key}`)).toMatchObject({ id: record.id });
});

test.each(["create", "revoke"] as const)(
  "callers are told that the store cannot %s, and nothing about its inside",
  async (method) => {
    const { store, keys, record } = await openKeys();
    const desk = createKeyIssuer({ keys, pepper: undefined });
    const ask = () =>
      method === "create" ? desk.issue({ name: undefined, plan: "free" }) : desk.revoke(record.id);
    const fails = vi.spyOn(store, method).mockRejectedValue(new StoreUnavailable("/data/kibitz.db is full"));
    await expect(ask()).rejects.toMatchObject(unavailable);
    await expect(ask()).rejects.not.toThrow(/kibitz\.db/);
    await expect(ask()).rejects.toThrow(/Nothing was changed/);
    fails.mockRejectedValue(new OutcomeUnknown("it has not answered"));
    await expect(ask()).rejects.toMatchObject(unavailable);
    await expect(ask()).rejects.toThrow(/may or may not have been done.*idempotency_key/);
    fails.mockRejectedValue(new Error("a bug"));
    await expect(ask()).rejects.toThrow("a bug");
  },
);
