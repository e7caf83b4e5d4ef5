import { describe, expect, test } from "vitest";
import { subjectOfKey } from "../../src/access/account.ts";
import { createKeyIssuer, createSelfService, type IssuedKey } from "../../src/access/key-issuer.ts";
import { createKeyExpiry } from "../../src/access/keys.ts";
import { dayMs, keyRules } from "../../src/storage/key-rules.ts";
import type { KeyStore } from "../../src/storage/ports.ts";
import { keyRecord } from "./access-stores.ts";

const expiryDays = 90;

/** Runs every rule of API keys with its own number against a store. Keys are created as by `POST /v1/keys`. */
export function testKeyRules(name: string, create: () => KeyStore): void {
  function open({ keysPerDay = 1000, keysMax = 1000 } = {}) {
    const keys = create();
    // A time long ago, because a key expires only if it has expired by every clock.
    const clock = { now: Date.now() - 1000 * dayMs };
    const now = () => clock.now;
    const issuer = createKeyIssuer({ keys, pepper: undefined, now });
    const expiry = createKeyExpiry(expiryDays, now);
    const selfService = createSelfService({ issuer, expiry, keysPerDay, keysMax, log: { warn() {} } });
    const issue = (address: string, idempotencyKey?: string) =>
      selfService.issue({ address, name: undefined, idempotencyKey });
    return { keys, clock, issuer, expiry, issue };
  }

  const issued = { kind: "issued", isRenewed: false };
  const recordOf = (one: IssuedKey) =>
    one.kind === "issued" ? one.record : expect.fail(`it is ${one.kind}`);

  describe(`the rules of keys in ${name}`, () => {
    test(`an address can create its number of keys in a window, with the keys in ${name}`, async () => {
      const { clock, issue } = open({ keysPerDay: 2 });
      await issue("192.0.2.1");
      clock.now += 1000;
      expect(await issue("192.0.2.1")).toMatchObject(issued);
      clock.now += 1000;
      const waitMs = keyRules.issueWindowMs - 2000;
      expect(await issue("192.0.2.1")).toEqual({ kind: "too_many", of: "address", max: 2, waitMs });
      expect(await issue("192.0.2.2")).toMatchObject(issued);
      clock.now += waitMs;
      expect(await issue("192.0.2.1")).toMatchObject(issued);
    });

    test(`a /48 network can create as many keys as ten addresses, with the keys in ${name}`, async () => {
      const { issue } = open({ keysPerDay: 1 });
      const addressOf = (network: number) => `2001:db8:0:${network.toString(16)}::/64`;
      for (let count = 0; count < keyRules.addressesOfNetwork; count++) {
        expect(await issue(addressOf(count))).toMatchObject(issued);
      }
      const max = keyRules.addressesOfNetwork;
      expect(await issue(addressOf(99))).toMatchObject({ kind: "too_many", of: "network", max });
      expect(await issue("2001:db8:1:1::/64")).toMatchObject(issued);
      expect(await issue("192.0.2.1")).toMatchObject(issued);
    });

    test(`a repeated idempotency key renews its key until the window ends, with the keys in ${name}`, async () => {
      const { clock, issue } = open({ keysPerDay: 2 });
      const first = recordOf(await issue("192.0.2.1", "0123456789abcdef"));
      clock.now += keyRules.issueWindowMs - 1;
      const renewed = await issue("192.0.2.1", "0123456789abcdef");
      expect(renewed).toMatchObject({ isRenewed: true, record: { id: first.id } });
      clock.now += 1;
      expect(await issue("192.0.2.1", "0123456789abcdef")).toMatchObject(issued);
    });

    test(`an address can renew its keys only so often in a minute, with the keys in ${name}`, async () => {
      const { issue } = open();
      const { max } = keyRules.renewals;
      const asked = await Array.fromAsync({ length: 1 + max }, () => issue("192.0.2.1", "0123456789abcdef"));
      expect(asked.filter((one) => one.kind === "issued" && one.isRenewed)).toHaveLength(max);
      expect(await issue("192.0.2.1", "0123456789abcdef")).toMatchObject({ kind: "too_many_renewals", max });
      expect(await issue("192.0.2.2", "0123456789abcdef")).toMatchObject(issued);
    });

    test(`a self-service key expires if it is unused for long, and is deleted later, with the keys in ${name}`, async () => {
      const { keys, clock, expiry, issue } = open();
      const { id } = recordOf(await issue("192.0.2.1"));
      await keys.create(keyRecord({ id: "by hand", createdAt: clock.now }));
      const hasExpired = async () =>
        expiry.hasExpired((await keys.findById(id)) ?? expect.fail("it is gone"));
      clock.now += expiryDays * dayMs - 1;
      expect(await hasExpired()).toBe(false);
      await keys.touch(new Map([[id, clock.now]]));
      clock.now += expiryDays * dayMs - 1;
      expect(await hasExpired()).toBe(false);
      clock.now += 1;
      expect(await hasExpired()).toBe(true);
      clock.now += keyRules.endedKeptMs;
      expect(await keys.prune(expiry.ended(), keyRules.endedAtOnce)).toBe(0);
      clock.now += 1;
      expect(await keys.prune(expiry.ended(), keyRules.endedAtOnce)).toBe(1);
      expect((await keys.list()).map(({ id }) => id)).toEqual(["by hand"]);
    });

    test(`a revoked key is deleted after a month, or after a day if the store is full, with the keys in ${name}`, async () => {
      const { keys, clock, issuer, expiry, issue } = open({ keysMax: 1 });
      const { id } = recordOf(await issue("192.0.2.1"));
      await issuer.revoke(id);
      clock.now += keyRules.endedKeptIfFullMs;
      expect(await issue("192.0.2.1")).toEqual({ kind: "full" });
      expect(await keys.prune(expiry.ended(), keyRules.endedAtOnce)).toBe(0);
      clock.now += 1;
      const next = recordOf(await issue("192.0.2.1"));
      expect(await keys.list()).toEqual([next]);
      await issuer.revoke(next.id);
      clock.now += keyRules.endedKeptMs;
      expect(await keys.prune(expiry.ended(), keyRules.endedAtOnce)).toBe(0);
      clock.now += 1;
      expect(await keys.prune(expiry.ended(), keyRules.endedAtOnce)).toBe(1);
    });

    test(`a key ends when the operator wants, and is deleted a month later, with the keys in ${name}`, async () => {
      const { keys, clock, issuer, expiry } = open();
      const expiresAt = clock.now + dayMs;
      const { id } = recordOf(await issuer.issue({ name: undefined, plan: "free", expiresAt }));
      const hasExpired = async () =>
        expiry.hasExpired((await keys.findById(id)) ?? expect.fail("it is gone"));
      clock.now += dayMs - 1;
      expect(await hasExpired()).toBe(false);
      clock.now += 1;
      expect(await hasExpired()).toBe(true);
      expect(await issuer.rotate(id, expiry)).toBeUndefined();
      await issuer.update(id, { expiresAt: clock.now + 1 });
      expect(await hasExpired()).toBe(false);
      clock.now += 1 + keyRules.endedKeptMs;
      expect(await keys.prune(expiry.ended(), keyRules.endedAtOnce)).toBe(0);
      clock.now += 1;
      expect(await keys.prune(expiry.ended(), keyRules.endedAtOnce)).toBe(1);
      expect(await keys.list()).toEqual([]);
    });

    test(`a rotated key has the account, name, plan and end of the earlier key, which ends after the overlap, with the keys in ${name}`, async () => {
      const { keys, clock, issuer, expiry } = open();
      const expiresAt = clock.now + 9 * dayMs;
      const first = recordOf(await issuer.issue({ name: "bot", plan: "gold", expiresAt }));
      const rotate = async (id: string, overlapMs?: number) =>
        (await issuer.rotate(id, expiry, overlapMs))?.record ?? expect.fail("it is not valid");
      const second = await rotate(first.id, dayMs);
      expect(second).toMatchObject({ name: "bot", plan: "gold", expiresAt, account: first.id });
      const replacedBy = second.id;
      expect(await keys.findById(first.id)).toEqual({ ...first, replacedBy, expiresAt: clock.now + dayMs });
      const third = await rotate(second.id, 30 * dayMs);
      expect(await keys.findById(second.id)).toEqual({ ...second, replacedBy: third.id });
      const last = await rotate(third.id);
      expect(await keys.findById(third.id)).toMatchObject({ revokedAt: clock.now });
      expect([first, second, third, last].map(subjectOfKey)).toEqual(Array(4).fill(first.id));
    });

    test(`a key is replaced only once, also if several commands try at once, with the keys in ${name}`, async () => {
      const { keys, issuer, expiry } = open();
      for (const overlapMs of [0, dayMs]) {
        const first = recordOf(await issuer.issue({ name: "bot", plan: "gold" }));
        const before = (await keys.list()).length;
        const rotated = await Promise.all(
          Array.from({ length: 5 }, () => issuer.rotate(first.id, expiry, overlapMs)),
        );
        expect(rotated.filter((one) => one !== undefined)).toMatchObject([
          { record: { account: first.id, expiresAt: undefined } },
        ]);
        expect(await issuer.rotate(first.id, expiry, 2 * dayMs)).toBeUndefined();
        expect(await keys.list()).toHaveLength(before + 1);
      }
    });

    test(`a replacement can be repeated, for example after its reply was lost, with the keys in ${name}`, async () => {
      const { keys, clock, issuer } = open();
      const first = recordOf(await issuer.issue({ name: "bot", plan: "gold" }));
      const next = keyRecord({ id: "next", account: first.id, createdAt: clock.now });
      for (const _ of [1, 2]) {
        expect(await keys.replace(first, next, { revokedAt: clock.now })).toBe(true);
        expect(await keys.list()).toMatchObject([{ replacedBy: "next", revokedAt: clock.now }, next]);
      }
      const other = keyRecord({ id: "other" });
      expect(await keys.replace(first, other, { revokedAt: clock.now })).toBe(false);
    });

    test(`a key that is updated while it is replaced loses no change, with the keys in ${name}`, async () => {
      const { keys, issuer, expiry } = open();
      for (let round = 0; round < 10; round++) {
        const { id } = recordOf(await issuer.issue({ name: undefined, plan: "free" }));
        const [changed, rotated] = await Promise.all([
          issuer.update(id, { plan: "gold" }),
          issuer.rotate(id, expiry),
        ]);
        // An update after the replacement finds a revoked key, and says so.
        expect(rotated?.record.plan).toBe(changed === undefined ? "free" : "gold");
        expect(await keys.findById(rotated?.record.id ?? "")).toEqual(rotated?.record);
      }
    });

    test(`a full store deletes only some of its ended keys at once, with the keys in ${name}`, async () => {
      const count = keyRules.endedAtOnce + 5;
      const { keys, clock, issue } = open({ keysMax: count });
      for (let index = 0; index < count; index++) {
        await keys.create(keyRecord({ id: `${index}`, issuedTo: `${index}`, createdAt: clock.now }));
      }
      clock.now += expiryDays * dayMs + keyRules.endedKeptIfFullMs + 1;
      expect(await issue("192.0.2.1")).toMatchObject(issued);
      expect(await keys.list()).toHaveLength(count - keyRules.endedAtOnce + 1);
    });
  });
}
