import { describe, expect, test, vi } from "vitest";
import { createKeyIssuer, createSelfService } from "../../src/access/key-issuer.ts";
import { createKeyExpiry } from "../../src/access/keys.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/storage/ports.ts";
import { openOwnStores } from "../support/own-stores.ts";

async function issueOne() {
  const { keys } = openOwnStores();
  const onEnded = vi.fn();
  const issuer = createKeyIssuer({ keys, pepper: undefined, onEnded });
  const issued = await issuer.issue({ name: "a", plan: "gold", issuedTo: "192.0.2.1" });
  return issued.kind === "issued" ? { keys, issuer, onEnded, ...issued } : expect.fail("not issued");
}

test("key rotation revokes a key and creates a new key with the same name, plan and owner", async () => {
  const { keys, issuer, onEnded, key, record } = await issueOne();
  const rotated = await issuer.rotate(record.id, createKeyExpiry(0));
  expect(rotated).toMatchObject({ record: { name: "a", plan: "gold", issuedTo: "192.0.2.1" } });
  expect(rotated).not.toMatchObject({ key });
  expect(await keys.findById(record.id)).toMatchObject({ revokedAt: expect.any(Number) });
  expect(onEnded).toHaveBeenCalledExactlyOnceWith(record.id);
});

test("key rotation fails for an already rotated key and for an unknown key", async () => {
  const { issuer, record } = await issueOne();
  const expiry = createKeyExpiry(0);
  await issuer.rotate(record.id, expiry);
  expect(await issuer.rotate(record.id, expiry)).toBeUndefined();
  expect(await issuer.rotate("nobody", expiry)).toBeUndefined();
});

test("key rotation repeats a replacement whose reply was lost, so that the new key is not lost", async () => {
  const { keys, issuer, record } = await issueOne();
  const { replace } = keys;
  using replacing = vi
    .spyOn(keys, "replace")
    .mockImplementationOnce(async (...args) => {
      await replace(...args);
      throw new OutcomeUnknown("the reply was lost");
    })
    .mockRejectedValueOnce(new StoreUnavailable("it is still away"));
  const rotated = await issuer.rotate(record.id, createKeyExpiry(0));
  expect(replacing).toHaveBeenCalledTimes(3);
  expect(await keys.list()).toMatchObject([{ replacedBy: rotated?.record.id }, rotated?.record]);
});

test("key rotation is not repeated if the store was unavailable before", async () => {
  const { keys, issuer, record } = await issueOne();
  using replacing = vi.spyOn(keys, "replace").mockRejectedValue(new StoreUnavailable("it is away"));
  await expect(issuer.rotate(record.id, createKeyExpiry(0))).rejects.toThrow("it is away");
  expect(replacing).toHaveBeenCalledTimes(1);
});

describe("the renewals of an address", () => {
  const idempotencyKey = "0123456789abcdef";

  function open() {
    const { keys } = openOwnStores();
    const create = vi.spyOn(keys, "create");
    const { issue } = createSelfService({
      issuer: createKeyIssuer({ keys, pepper: undefined }),
      expiry: createKeyExpiry(0),
      keysPerDay: 1000,
      keysMax: 1000,
      log: { warn() {} },
    });
    const ask = (address = "192.0.2.1", key: string | undefined = idempotencyKey) =>
      issue({ address, name: undefined, idempotencyKey: key });
    const renewAll = async () => {
      await ask();
      return Array.fromAsync({ length: 20 }, () => ask());
    };
    return { ask, renewAll, create };
  }

  test("an address can renew its keys 20 times in a minute, and further renewals do not reach the store", async () => {
    let now = 0;
    using _ = vi.spyOn(performance, "now").mockImplementation(() => now);
    const { ask, renewAll, create } = open();
    expect(await renewAll()).toMatchObject(Array(20).fill({ kind: "issued", isRenewed: true }));
    create.mockClear();
    now = 1000;
    expect(await ask()).toEqual({ kind: "too_many_renewals", max: 20, waitMs: 59_000 });
    expect(create).not.toHaveBeenCalled();
    expect(await ask("192.0.2.2")).toMatchObject({ kind: "issued", isRenewed: false });
    now = 60_000;
    expect(await ask()).toMatchObject({ kind: "issued", isRenewed: true });
  });

  test("renewals that arrive together are counted before the store answers", async () => {
    const { ask } = open();
    await ask();
    const kinds = (await Promise.all(Array.from({ length: 40 }, () => ask()))).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "issued")).toHaveLength(20);
  });

  test("new keys are not counted as renewals", async () => {
    const { ask } = open();
    for (let count = 0; count < 30; count++) {
      expect(await ask("192.0.2.1", `${idempotencyKey}${count}`)).toMatchObject({ isRenewed: false });
    }
  });

  test("a renewal that the store fails is not counted", async () => {
    const { ask, renewAll, create } = open();
    create.mockRejectedValueOnce(new StoreUnavailable("the disk is full"));
    await expect(ask()).rejects.toThrow("the disk is full");
    expect(await renewAll()).toMatchObject(Array(20).fill({ kind: "issued" }));
  });
});
