import { expect, test, vi } from "vitest";
import { createAccess } from "../../src/access/access.ts";
import { createClientAddress } from "../../src/access/client-address.ts";
import { builtInPlans } from "../../src/access/plans.ts";
import { silentLog } from "../../src/log/log.ts";
import { createMemoryLimitStore } from "../../src/storage/memory/limit-store.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/storage/ports.ts";
import { keyRecord } from "../contract/access-stores.ts";
import { openOwnStores } from "../support/own-stores.ts";

const dayMs = 86_400_000;

const options = {
  mode: "public",
  ...{ plans: builtInPlans, addressOf: createClientAddress([], silentLog), log: { warn() {} } },
  ...{ keysPerDay: 3, selfServiceKeysMax: 100, pepper: undefined },
} as const;

/** Starts a node. The clock of the node is `aheadMs` ahead of the shared clock. */
async function startNode(aheadMs: number) {
  const sharedNow = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: sharedNow + aheadMs });
  const { keys } = openOwnStores();
  const access = await createAccess({
    ...options,
    keyExpiryDays: 90,
    stores: { keys },
    shared: {
      limits: { store: createMemoryLimitStore(), nodes: () => 1 },
      now: () => sharedNow,
    },
  });
  return { access, keys, sharedNow, [Symbol.dispose]: () => void vi.useRealTimers() };
}

test("a node whose clock is ahead does not delete a key too early", async () => {
  using node = await startNode(150 * dayMs);
  const record = keyRecord({ id: "a", issuedTo: "192.0.2.1", createdAt: node.sharedNow - 89 * dayMs });
  await node.keys.create(record);
  await node.access.prune();
  expect(await node.keys.findById("a")).toEqual(record);
});

test.each([-100 * dayMs, 100 * dayMs])(
  "the shared clock decides when an address may create keys again, even if the node's clock is wrong by %i ms",
  async (aheadMs) => {
    using node = await startNode(aheadMs);
    const wish = { address: "192.0.2.1", name: undefined, idempotencyKey: undefined };
    const issue = () => node.access.selfService?.issue(wish);
    expect([await issue(), await issue(), await issue()]).toMatchObject(Array(3).fill({ kind: "issued" }));
    expect(await issue()).toEqual({ kind: "too_many", of: "address", max: 3, waitMs: dayMs });
  },
);

test.each([-100 * dayMs, 100 * dayMs])(
  "the times in a key record come from the shared clock, even if the node's clock is wrong by %i ms",
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
const origin = { address: "192.0.2.1", forwardedFor: undefined };

async function openWithKey() {
  const { keys } = openOwnStores();
  const access = await createAccess({ ...options, keyExpiryDays: 0, stores: { keys } });
  const issued = await access.keys.issue({ name: undefined, plan: "free" });
  return issued.kind === "issued" ? { access, keys, ...issued } : expect.fail("not issued");
}

test("a request whose key cannot be looked up is refused as store_unavailable", async () => {
  const { access, keys, key } = await openWithKey();
  vi.spyOn(keys, "findByHash").mockRejectedValue(new StoreUnavailable("the disk is gone"));
  await expect(access.accountOf({ ...origin, authorization: `Bearer ${key}` })).rejects.toMatchObject(
    unavailable,
  );
});

test.each(["create", "revoke"] as const)(
  "if the store cannot %s keys, the error is store_unavailable and hides the cause",
  async (method) => {
    const { access, keys, record } = await openWithKey();
    const ask = () =>
      method === "create"
        ? access.keys.issue({ name: undefined, plan: "free" })
        : access.keys.revoke(record.id);
    const fails = vi.spyOn(keys, method).mockRejectedValue(new StoreUnavailable("/data/kibitz.db is full"));
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

test.each(["Basic dXNlcjpwYXNz", "Negotiate YII=", "Digest username=u", "Token abc"])(
  "the credential %s of a proxy is ignored in open mode, and refused in the other modes",
  async (authorization) => {
    const { keys } = openOwnStores();
    const openIn = (mode: "public" | "keys" | "open") =>
      createAccess({ ...options, mode, keyExpiryDays: 0, stores: { keys } });
    expect(await (await openIn("open")).accountOf({ ...origin, authorization })).toMatchObject({
      key: undefined,
    });
    for (const mode of ["public", "keys"] as const) {
      const scheme = new RegExp(`of the scheme ${authorization.split(" ")[0]}`);
      await expect((await openIn(mode)).accountOf({ ...origin, authorization })).rejects.toThrow(scheme);
    }
  },
);

test.each(["Bearer kbz_wrong", "bearer", "kbz_0123456789"])(
  "a credential that could be a key is validated even in open mode: %s",
  async (authorization) => {
    const { keys } = openOwnStores();
    const access = await createAccess({ ...options, mode: "open", keyExpiryDays: 0, stores: { keys } });
    await expect(access.accountOf({ ...origin, authorization })).rejects.toMatchObject({
      code: "invalid_api_key",
    });
  },
);
