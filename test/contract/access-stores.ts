import { describe, expect, test } from "vitest";
import type { IssueTerms, KeyRecord, KeyStore, UsageStore } from "../../src/storage/ports.ts";

export function keyRecord(fields: Partial<KeyRecord> & { readonly id: string }): KeyRecord {
  return {
    hash: `hash of ${fields.id}`,
    name: undefined,
    plan: "free",
    createdAt: 1_700_000_000_000,
    issuedTo: undefined,
    lastUsedAt: undefined,
    revokedAt: undefined,
    expiresAt: undefined,
    account: undefined,
    replacedBy: undefined,
    ...fields,
  };
}

/** Returns limits for the creation of keys. A limit that is not in `fields` is infinite. */
export function issueTerms(fields: Partial<IssueTerms> = {}): IssueTerms {
  return {
    quota: { max: 1000, windowMs: 100 },
    network: undefined,
    keptMax: 1000,
    ended: { endedBefore: 0, unusedSince: 0 },
    idempotencyKey: undefined,
    ...fields,
  };
}

export function testKeyStore(name: string, create: () => KeyStore): void {
  describe(`the keys in ${name}`, () => {
    // SQLite's words, or ours with Redis.
    const repeated = /UNIQUE constraint failed|kept already/;

    test(`keys in ${name} are found by hash and by id, with all their fields`, async () => {
      const store = create();
      const plain = keyRecord({ id: "plain" });
      const full = keyRecord({
        id: "full",
        name: 'Bobby "♟" Fischer',
        plan: "gold",
        issuedTo: "2001:db8:0:1::/64",
        lastUsedAt: 1_700_000_000_001,
        expiresAt: 1_800_000_000_001,
        account: "plain",
        replacedBy: "other",
      });
      for (const record of [plain, full]) {
        expect(await store.create(record)).toEqual({ kind: "created" });
        expect(await store.findById(record.id)).toEqual(record);
        expect(await store.findByHash(record.hash)).toEqual(record);
      }
    });

    test(`keys in ${name} are not found by an unknown hash or id`, async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      for (const other of ["", "A", "b", "hash of A", "' OR 1=1 --", "__proto__"]) {
        expect(await store.findById(other)).toBeUndefined();
        expect(await store.findByHash(other)).toBeUndefined();
      }
    });

    test(`the list of keys in ${name} starts with the oldest key and includes revoked keys`, async () => {
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

    test(`revoking a revoked key in ${name} does not change its revocation time`, async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      expect(await store.revoke("a", 100)).toBe(true);
      expect(await store.revoke("a", 200)).toBe(true);
      expect(await store.findByHash("hash of a")).toMatchObject({ revokedAt: 100 });
      expect(await store.revoke("b", 100)).toBe(false);
    });

    test(`the latest use of many keys in ${name} can be stored in one call`, async () => {
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

    test(`many keys are created in ${name} together, or none if the id or hash of one is taken`, async () => {
      const store = create();
      const many = Array.from({ length: 1000 }, (_, index) => keyRecord({ id: `${index}`, expiresAt: 5 }));
      await store.createAll(many);
      expect((await store.list()).length).toBe(1000);
      expect(await store.findByHash("hash of 999")).toEqual(many[999]);
      const fresh = keyRecord({ id: "fresh" });
      for (const wrong of [
        keyRecord({ id: "7", hash: "other" }),
        keyRecord({ id: "b", hash: "hash of 7" }),
      ]) {
        await expect(store.createAll([fresh, wrong])).rejects.toThrow(repeated);
      }
      await expect(store.createAll([fresh, { ...fresh, hash: "other" }])).rejects.toThrow(repeated);
      await expect(store.createAll([fresh, { ...fresh, id: "other" }])).rejects.toThrow(repeated);
      expect(await store.findById("fresh")).toBeUndefined();
      expect((await store.list()).length).toBe(1000);
    });

    test(`an update of a key in ${name} changes only the given fields, and returns the key before and after`, async () => {
      const store = create();
      const before = keyRecord({ id: "a", name: "mine", expiresAt: 100 });
      await store.create(before);
      await store.create(keyRecord({ id: "b" }));
      const gold = { ...before, plan: "gold" };
      expect(await store.update("a", { plan: "gold" })).toEqual({ before, after: gold });
      const renamed = { ...gold, name: "yours", expiresAt: 200 };
      expect(await store.update("a", { name: "yours", expiresAt: 200 })).toEqual({
        before: gold,
        after: renamed,
      });
      const bare = { ...gold, name: undefined, expiresAt: undefined };
      expect(await store.update("a", { name: null, expiresAt: null })).toEqual({
        before: renamed,
        after: bare,
      });
      expect(await store.findByHash("hash of a")).toEqual(bare);
      expect(await store.findById("b")).toEqual(keyRecord({ id: "b" }));
      expect(await store.countByPlan()).toEqual(
        new Map([
          ["gold", 1],
          ["free", 1],
        ]),
      );
    });

    test(`an update in ${name} never changes a revoked key`, async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      await store.revoke("a", 100);
      expect(await store.update("a", { plan: "gold", name: "b", expiresAt: null })).toBeUndefined();
      expect(await store.findById("a")).toEqual(keyRecord({ id: "a", revokedAt: 100 }));
      expect(await store.update("nobody", { plan: "gold" })).toBeUndefined();
      expect(await store.findById("nobody")).toBeUndefined();
      expect(await store.countByPlan()).toEqual(new Map());
    });

    test(`an update in ${name} can only bring an earlier end with endsBy`, async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      expect(await store.update("a", { endsBy: 200 })).toMatchObject({ after: { expiresAt: 200 } });
      expect(await store.update("a", { endsBy: 300 })).toMatchObject({ after: { expiresAt: 200 } });
      expect(await store.update("a", { endsBy: 100, replacedBy: "b" })).toMatchObject({
        after: { expiresAt: 100, replacedBy: "b" },
      });
      expect(await store.findById("a")).toEqual(keyRecord({ id: "a", expiresAt: 100, replacedBy: "b" }));
      expect(await store.prune({ endedBefore: 101, unusedSince: 0 }, 1)).toBe(1);
    });

    test(`the keys of each plan in ${name} are counted without revoked keys, also if many were made at the same time`, async () => {
      const store = create();
      expect(await store.countByPlan()).toEqual(new Map());
      const many = (count: number, fields: Partial<KeyRecord> & { readonly plan: string }) =>
        Array.from({ length: count }, (_, index) =>
          keyRecord({ id: `${fields.plan} ${fields.createdAt} ${index}`, ...fields }),
        );
      await store.createAll([
        ...many(2000, { plan: "free", createdAt: 1_700_000_000_000 }),
        ...many(500, { plan: "gold", createdAt: 1_700_000_000_001 }),
        ...many(7, { plan: "gone", createdAt: 1_700_000_000_002, revokedAt: 1_700_000_000_003 }),
        ...many(1, { plan: "club", createdAt: 1_700_000_000_004 }),
      ]);
      const counts = new Map([
        ["free", 2000],
        ["gold", 500],
        ["club", 1],
      ]);
      let turns = 0;
      let next = setImmediate(function count() {
        turns++;
        next = setImmediate(count);
      });
      expect(await store.countByPlan()).toEqual(counts);
      clearImmediate(next);
      // Other work goes on between the steps.
      expect(turns).toBeGreaterThan(1);
    });

    test(`a key in ${name} is replaced only if it is as it was read, and never twice`, async () => {
      const store = create();
      const first = keyRecord({ id: "a", name: "mine", expiresAt: 500 });
      const next = keyRecord({ id: "b", account: "a" });
      await store.create(first);
      for (const other of [
        { name: undefined },
        { plan: "gold" },
        { expiresAt: undefined },
        { expiresAt: 501 },
        { id: "c" },
      ]) {
        expect(await store.replace({ ...first, ...other }, next, { revokedAt: 100 })).toBe(false);
      }
      expect(await store.list()).toEqual([first]);
      expect(await store.replace({ ...first, lastUsedAt: 7 }, next, { expiresAt: 100 })).toBe(true);
      const replaced = { ...first, expiresAt: 100, replacedBy: "b" };
      expect(await store.findById("a")).toEqual(replaced);
      expect(await store.findByHash("hash of b")).toEqual(next);
      for (const read of [first, replaced]) {
        const third = keyRecord({ id: "c" });
        expect(await store.replace(read, third, { revokedAt: 100 })).toBe(false);
      }
      const last = keyRecord({ id: "d" });
      expect(await store.replace(next, last, { revokedAt: 100 })).toBe(true);
      expect(await store.findById("b")).toEqual({ ...next, revokedAt: 100, replacedBy: "d" });
      await store.revoke("d", 200);
      expect(await store.replace(last, keyRecord({ id: "e" }), { expiresAt: 300 })).toBe(false);
      expect(await store.findById("d")).toEqual({ ...last, revokedAt: 200 });
      expect((await store.list()).map(({ id }) => id).toSorted()).toEqual(["a", "b", "d"]);
      expect(await store.prune({ endedBefore: 101, unusedSince: 0 }, 9)).toBe(2);
    });

    test(`the key store in ${name} keeps its pepper check until all keys are revoked`, async () => {
      const store = create();
      expect(await store.pepperCheck()).toBeUndefined();
      expect(await store.keepPepperCheck("first")).toBe("first");
      expect(await store.keepPepperCheck("second")).toBe("second");
      expect(await store.pepperCheck()).toBeUndefined();
      await store.create(keyRecord({ id: "a" }));
      await store.create(keyRecord({ id: "b" }));
      await store.revoke("b", 100);
      expect(await store.keepPepperCheck("third")).toBe("second");
      expect(await store.pepperCheck()).toBe("second");
      expect(await store.keepPepperCheck("second")).toBe("second");
      await store.revoke("a", 100);
      expect(await store.keepPepperCheck("third")).toBe("third");
    });

    test(`a key store in ${name} that already has keys keeps the first pepper check`, async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      expect(await store.keepPepperCheck("first")).toBe("first");
      expect(await store.keepPepperCheck("second")).toBe("first");
    });

    test(`keys in ${name} have unique ids and unique hashes`, async () => {
      const store = create();
      await store.create(keyRecord({ id: "a" }));
      await expect(store.create(keyRecord({ id: "a", hash: "other" }))).rejects.toThrow(repeated);
      await expect(store.create(keyRecord({ id: "b", hash: "hash of a" }))).rejects.toThrow(repeated);
      expect(await store.list()).toHaveLength(1);
    });

    describe("if an address may create 2 keys in 100 ms", () => {
      const terms = issueTerms({ quota: { max: 2, windowMs: 100 } });
      const at = (createdAt: number, issuedTo = "a", id = `${issuedTo}${createdAt}`) =>
        keyRecord({ id, createdAt, issuedTo });

      test(`an address without remaining key quota in ${name} can create a key again when the oldest key of the address is older than the window`, async () => {
        const store = create();
        expect(await store.create(at(1000), terms)).toEqual({ kind: "created" });
        expect(await store.create(at(1050), terms)).toEqual({ kind: "created" });
        expect(await store.create(at(1099), terms)).toEqual({
          kind: "too_many",
          of: "address",
          max: 2,
          againAt: 1100,
        });
        expect(await store.create(at(1100), terms)).toEqual({ kind: "created" });
        expect(await store.create(at(1101), terms)).toEqual({
          kind: "too_many",
          of: "address",
          max: 2,
          againAt: 1150,
        });
        expect(await store.list()).toHaveLength(3);
      });

      test(`the key quota of an address in ${name} ignores keys with a creation time in the far future`, async () => {
        const store = create();
        await store.create(at(900_000), terms);
        await store.create(at(900_001), terms);
        expect(await store.create(at(1050), terms)).toEqual({ kind: "created" });
        expect(await store.create(at(1049), terms)).toEqual({ kind: "created" });
        expect(await store.create(at(1000), terms)).toEqual({
          kind: "too_many",
          of: "address",
          max: 2,
          againAt: 1149,
        });
      });

      test(`if one address has used up its key quota in ${name}, other addresses and the operator can still create keys`, async () => {
        const store = create();
        await store.create(at(1000), terms);
        await store.create(at(1001), terms);
        expect(await store.create(at(1002, "b"), terms)).toEqual({ kind: "created" });
        expect(await store.create(keyRecord({ id: "by hand", createdAt: 1002 }))).toEqual({
          kind: "created",
        });
      });

      test(`the key quota of an address in ${name} includes simultaneous requests and revoked keys`, async () => {
        const store = create();
        const asked = Array.from({ length: 10 }, (_, index) =>
          store.create(at(1000, "a", `${index}`), terms),
        );
        const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
        expect(kinds.filter((kind) => kind === "created")).toHaveLength(2);
        for (const { id } of await store.list()) {
          await store.revoke(id, 1001);
        }
        expect(await store.create(at(1002), terms)).toMatchObject({ kind: "too_many" });
      });
    });

    describe("if a network may create 3 keys in 100 ms", () => {
      const terms = (name: string | undefined) =>
        issueTerms({ network: name === undefined ? undefined : { name, max: 3 } });
      const at = (createdAt: number, issuedTo: string) =>
        keyRecord({ id: `${issuedTo}${createdAt}`, createdAt, issuedTo });

      test(`if a network has used up its key quota in ${name}, no address in this network can create a key, but other networks can`, async () => {
        const store = create();
        for (const [index, address] of ["a", "b", "c"].entries()) {
          expect(await store.create(at(1000 + index, address), terms("near"))).toEqual({ kind: "created" });
        }
        const refused = { kind: "too_many", of: "network", max: 3, againAt: 1100 };
        expect(await store.create(at(1099, "d"), terms("near"))).toEqual(refused);
        expect(await store.create(at(1099, "e"), terms("far"))).toEqual({ kind: "created" });
        expect(await store.create(at(1099, "f"), terms(undefined))).toEqual({ kind: "created" });
        expect(await store.create(at(1100, "d"), terms("near"))).toEqual({ kind: "created" });
      });
    });

    describe("if clients may have 2 keys in total", () => {
      const terms = issueTerms({ keptMax: 2, ended: { endedBefore: 500, unusedSince: 300 } });
      const of = (id: string, fields: Partial<KeyRecord> = {}) =>
        keyRecord({ id, createdAt: 1000, issuedTo: id, ...fields });

      test(`the maximum number of self-service keys in ${name} does not include keys of the operator`, async () => {
        const store = create();
        await store.create(keyRecord({ id: "by hand" }));
        expect(await store.create(of("a"), terms)).toEqual({ kind: "created" });
        expect(await store.create(of("b"), terms)).toEqual({ kind: "created" });
        expect(await store.create(of("c"), terms)).toEqual({ kind: "full" });
        expect(await store.create(of("d"), issueTerms({ keptMax: 3 }))).toEqual({ kind: "created" });
        await store.create(keyRecord({ id: "by hand, too" }));
        expect(await store.list()).toHaveLength(5);
      });

      test(`keys in ${name} that ended long ago no longer count towards the maximum number of keys`, async () => {
        const store = create();
        await store.create(of("unused", { createdAt: 200 }), terms);
        await store.create(of("revoked"), terms);
        await store.revoke("revoked", 500);
        expect(await store.create(of("c"), terms)).toEqual({ kind: "created" });
        expect(await store.findById("unused")).toBeUndefined();
        expect(await store.create(of("d"), terms)).toEqual({ kind: "full" });
        const later = { ...terms, ended: { endedBefore: 501, unusedSince: 300 } };
        expect(await store.create(of("d"), later)).toEqual({ kind: "created" });
        expect(await store.findById("revoked")).toBeUndefined();
      });
    });

    describe("with an idempotency key", () => {
      const terms = issueTerms({ quota: { max: 1, windowMs: 100 }, keptMax: 1, idempotencyKey: "wish" });
      const at = (createdAt: number, hash: string, fields: Partial<KeyRecord> = {}) =>
        keyRecord({ id: `${createdAt}`, createdAt, hash, issuedTo: "a", ...fields });

      test(`a repeated request with the same idempotency key returns the same key in ${name} with a new secret`, async () => {
        const store = create();
        await store.create(at(1000, "first", { name: "bot" }), terms);
        const renewed = { ...at(1000, "second", { name: "bot" }) };
        expect(await store.create(at(1050, "second", { name: "other" }), terms)).toEqual({
          kind: "renewed",
          record: renewed,
        });
        expect(await store.findByHash("first")).toBeUndefined();
        expect(await store.findByHash("second")).toEqual(renewed);
        expect(await store.create(at(1099, "third"), terms)).toMatchObject({ kind: "renewed" });
        expect(await store.list()).toEqual([{ ...renewed, hash: "third" }]);
      });

      test(`an idempotency key creates a new key in ${name} if it was used by another address or before the current window`, async () => {
        const store = create();
        const many = issueTerms({ idempotencyKey: "wish" });
        await store.create(at(1000, "first"), many);
        const others = [
          [at(1100, "late"), many],
          [at(1001, "elsewhere", { issuedTo: "b" }), many],
          [at(1002, "other name"), { ...many, idempotencyKey: "Wish" }],
          [at(1003, "no name"), { ...many, idempotencyKey: undefined }],
        ] as const;
        for (const [record, asked] of others) {
          expect(await store.create(record, asked)).toEqual({ kind: "created" });
        }
        expect(await store.findByHash("first")).toMatchObject({ id: "1000" });
      });

      test(`an idempotency key never returns a revoked key in ${name}`, async () => {
        const store = create();
        const two = { ...terms, quota: { max: 2, windowMs: 100 }, keptMax: 10 };
        await store.create(at(1000, "first"), two);
        await store.revoke("1000", 1010);
        expect(await store.create(at(1020, "second"), two)).toEqual({ kind: "created" });
        expect(await store.findById("1000")).toMatchObject({ hash: "first", revokedAt: 1010 });
        expect(await store.create(at(1030, "third"), two)).toMatchObject({ record: { id: "1020" } });
        await store.revoke("1020", 1040);
        expect(await store.create(at(1050, "fourth"), two)).toMatchObject({ kind: "too_many" });
      });

      test(`simultaneous requests with one idempotency key create only one key in ${name}`, async () => {
        const store = create();
        const asked = Array.from({ length: 10 }, (_, index) =>
          store.create(at(1000 + index, `hash ${index}`), terms),
        );
        const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
        expect(kinds).toEqual(["created", ...Array(9).fill("renewed")]);
        expect(await store.list()).toMatchObject([{ id: "1000", hash: "hash 9" }]);
      });
    });

    describe("revoked or unused keys", () => {
      test(`revoked keys and unused self-service keys in ${name} are deleted in batches of bounded size`, async () => {
        const store = create();
        const made = [
          keyRecord({ id: "revoked", revokedAt: 99 }),
          keyRecord({ id: "revoked lately", revokedAt: 100 }),
          keyRecord({ id: "unused", issuedTo: "a", createdAt: 49 }),
          keyRecord({ id: "made lately", issuedTo: "a", createdAt: 50 }),
          keyRecord({ id: "used long ago", issuedTo: "a", createdAt: 1, lastUsedAt: 49 }),
          keyRecord({ id: "used", issuedTo: "a", createdAt: 1, lastUsedAt: 50 }),
          keyRecord({ id: "by hand", createdAt: 1 }),
        ];
        for (const record of made) {
          await store.create(record);
        }
        const ended = { endedBefore: 100, unusedSince: 50 };
        expect(await store.prune(ended, 2)).toBe(2);
        expect(await store.prune(ended, 2)).toBe(1);
        expect(await store.prune(ended, 2)).toBe(0);
        expect((await store.list()).map(({ id }) => id).toSorted()).toEqual([
          "by hand",
          "made lately",
          "revoked lately",
          "used",
        ]);
      });
    });
  });
}

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
    test(`engine time in ${name} is added up separately for each rate and each account in the current window`, async () => {
      const store = create();
      await store.add([spent("free/day", "a", 100, 1000), spent("free/day", "b", 7, 1000)], 10);
      await store.add([spent("free/day", "a", 50, 1003), spent("gold/day", "a", 1, 2000)], 20);
      expect(await sorted(store, 30)).toEqual([
        spent("free/day", "a", 150, 1000),
        spent("free/day", "b", 7, 1000),
        spent("gold/day", "a", 1, 2000),
      ]);
    });

    test(`engine time that was stored in ${name} while the clock was wrong does not block the current window`, async () => {
      const store = create();
      await store.add([spent("free/day", "a", 100, 900_000)], 800_000);
      await store.add([spent("free/day", "a", 50, 1003)], 20);
      expect(await store.current(30)).toEqual([spent("free/day", "a", 150, 1003)]);
      expect(await store.current(1003)).toEqual([]);
    });

    test(`engine time in ${name} is no longer counted after the end of its window`, async () => {
      const store = create();
      await store.add([spent("free/day", "a", 100, 1000)], 10);
      expect(await store.current(999)).toHaveLength(1);
      expect(await store.current(1000)).toEqual([]);
      await store.add([spent("free/day", "a", 5, 2000)], 1000);
      expect(await store.current(1000)).toEqual([spent("free/day", "a", 5, 2000)]);
    });

    test(`engine time in ${name} is deleted after the end of its window, in batches of bounded size`, async () => {
      const store = create();
      await store.add(
        ["a", "b", "c"].map((subject) => spent("free/day", subject, 1, 1000)),
        10,
      );
      await store.add([spent("free/day", "d", 1, 1001)], 10);
      expect(await store.prune(999, 2)).toBe(0);
      expect([await store.prune(1000, 2), await store.prune(1000, 2), await store.prune(1000, 2)]).toEqual([
        2, 1, 0,
      ]);
      expect(await sorted(store, 0)).toEqual([spent("free/day", "d", 1, 1001)]);
    });
  });
}
