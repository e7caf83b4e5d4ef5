import { describe, expect, test } from "vitest";
import type { KeyRecord, KeyStore, UsageStore } from "../../src/storage/ports.ts";

/** A key of which a test says only what matters to it. */
export function keyRecord(told: Partial<KeyRecord> & { readonly id: string }): KeyRecord {
  return {
    hash: `hash of ${told.id}`,
    name: undefined,
    plan: "free",
    createdAt: 1_700_000_000_000,
    issuedTo: undefined,
    lastUsedAt: undefined,
    revokedAt: undefined,
    ...told,
  };
}

/** What every store of keys promises, wherever it keeps them. `create` makes one that is empty. */
export function testKeyStore(name: string, create: () => KeyStore): void {
  describe(`the keys in ${name}`, () => {
    test("are found again by hash and by id, as they were given", async () => {
      const store = create();
      const plain = keyRecord({ id: "plain" });
      const full = keyRecord({
        id: "full",
        name: 'Bobby "♟" Fischer',
        plan: "gold",
        issuedTo: "2001:db8:0:1::/64",
        lastUsedAt: 1_700_000_000_001,
      });
      for (const record of [plain, full]) {
        expect(await store.create(record)).toEqual({ kind: "created" });
        expect(await store.findById(record.id)).toEqual(record);
        expect(await store.findByHash(record.hash)).toEqual(record);
      }
    });

    test("are not found by anything else", async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      for (const other of ["", "A", "b", "hash of A", "' OR 1=1 --", "__proto__"]) {
        expect(await store.findById(other)).toBeUndefined();
        expect(await store.findByHash(other)).toBeUndefined();
      }
    });

    test("are listed oldest first, revoked ones too", async () => {
      const store = create();
      await store.create(keyRecord({ id: "new", createdAt: 30 }));
      await store.create(keyRecord({ id: "old", createdAt: 10 }));
      await store.create(keyRecord({ id: "between", createdAt: 20 }));
      await store.revoke("old", 40);
      expect((await store.list()).map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
        ["old", 40],
        ["between", undefined],
        ["new", undefined],
      ]);
    });

    test("are revoked once: the first time stays", async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      expect(await store.revoke("a", 100)).toBe(true);
      expect(await store.revoke("a", 200)).toBe(true);
      expect(await store.findByHash("hash of a")).toMatchObject({ revokedAt: 100 });
      expect(await store.revoke("b", 100)).toBe(false);
    });

    test("remember their latest use, many at a time", async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      await store.create(keyRecord({ id: "b" }));
      await store.touch(new Map(Object.entries({ a: 500, b: 600, unknown: 700 })));
      await store.touch(new Map(Object.entries({ a: 400, b: 800 })));
      const used = (await store.list()).map(({ id, lastUsedAt }) => [id, lastUsedAt]);
      expect(used.toSorted()).toEqual([
        ["a", 500],
        ["b", 800],
      ]);
    });

    test("are unique by id and by hash", async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      await expect(store.create(keyRecord({ id: "a", hash: "other" }))).rejects.toThrow();
      await expect(store.create(keyRecord({ id: "b", hash: "hash of a" }))).rejects.toThrow();
      expect(await store.list()).toHaveLength(1);
    });

    describe("where an address may be issued 2 in 100 ms", () => {
      const quota = { max: 2, windowMs: 100 };
      const at = (createdAt: number, issuedTo = "a", id = `${issuedTo}${createdAt}`) =>
        keyRecord({ id, createdAt, issuedTo });

      test("are refused to it after that, until the oldest leaves the window", async () => {
        const store = create();
        expect(await store.create(at(1000), quota)).toEqual({ kind: "created" });
        expect(await store.create(at(1050), quota)).toEqual({ kind: "created" });
        expect(await store.create(at(1099), quota)).toEqual({ kind: "too_many", againAt: 1100 });
        expect(await store.create(at(1100), quota)).toEqual({ kind: "created" });
        expect(await store.create(at(1101), quota)).toEqual({ kind: "too_many", againAt: 1150 });
        expect(await store.list()).toHaveLength(3);
      });

      test("do not count for it when a clock that ran ahead has made them, and do when it was set back a little", async () => {
        const store = create();
        await store.create(at(900_000), quota);
        await store.create(at(900_001), quota);
        expect(await store.create(at(1050), quota)).toEqual({ kind: "created" });
        expect(await store.create(at(1049), quota)).toEqual({ kind: "created" });
        expect(await store.create(at(1000), quota)).toEqual({ kind: "too_many", againAt: 1149 });
      });

      test("are issued to other addresses, and by the operator", async () => {
        const store = create();
        await store.create(at(1000), quota);
        await store.create(at(1001), quota);
        expect(await store.create(at(1002, "b"), quota)).toEqual({ kind: "created" });
        expect(await store.create(keyRecord({ id: "by hand", createdAt: 1002 }))).toEqual({
          kind: "created",
        });
      });

      test("are no more when many ask at once, and no more because some were revoked", async () => {
        const store = create();
        const asked = Array.from({ length: 10 }, (_, index) =>
          store.create(at(1000, "a", `${index}`), quota),
        );
        const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
        expect(kinds.filter((kind) => kind === "created")).toHaveLength(2);
        for (const { id } of await store.list()) {
          await store.revoke(id, 1001);
        }
        expect(await store.create(at(1002), quota)).toMatchObject({ kind: "too_many" });
      });
    });
  });
}

/** What every store of engine time promises. `create` makes one that is empty. */
export function testUsageStore(name: string, create: () => UsageStore): void {
  const spent = (rate: string, subject: string, engineMs: number, resetsAt: number) => ({
    rate,
    subject,
    engineMs,
    resetsAt,
  });
  const sorted = async (store: UsageStore, now: number) =>
    (await store.current(now)).toSorted((a, b) => (a.rate + a.subject < b.rate + b.subject ? -1 : 1));

  describe(`the engine time in ${name}`, () => {
    test("adds up by rate and subject, in the window that was begun", async () => {
      const store = create();
      await store.add([spent("free/day", "a", 100, 1000), spent("free/day", "b", 7, 1000)], 10);
      await store.add([spent("free/day", "a", 50, 1003), spent("gold/day", "a", 1, 2000)], 20);
      expect(await sorted(store, 30)).toEqual([
        spent("free/day", "a", 150, 1000),
        spent("free/day", "b", 7, 1000),
        spent("gold/day", "a", 1, 2000),
      ]);
    });

    test("of a clock that ran ahead does not wait until that comes true", async () => {
      const store = create();
      await store.add([spent("free/day", "a", 100, 900_000)], 800_000);
      await store.add([spent("free/day", "a", 50, 1003)], 20);
      expect(await store.current(30)).toEqual([spent("free/day", "a", 150, 1003)]);
      expect(await store.current(1003)).toEqual([]);
    });

    test("counts no more when its window has ended", async () => {
      const store = create();
      await store.add([spent("free/day", "a", 100, 1000)], 10);
      expect(await store.current(999)).toHaveLength(1);
      expect(await store.current(1000)).toEqual([]);
      await store.add([spent("free/day", "a", 5, 2000)], 1000);
      expect(await store.current(1000)).toEqual([spent("free/day", "a", 5, 2000)]);
    });
  });
}
