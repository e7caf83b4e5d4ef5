import { expect, test, vi } from "vitest";
import { mapStoreErrors } from "../../src/access/access.ts";
import { createAuthenticator } from "../../src/access/authenticate.ts";
import { createKeyIssuer } from "../../src/access/keys.ts";
import { createMemoryKeyStore } from "../../src/storage/memory/key-store.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/storage/ports.ts";

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
