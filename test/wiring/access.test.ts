import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Access } from "../../src/access/access.ts";
import type { Account } from "../../src/access/account.ts";
import { openPlan } from "../../src/access/plans.ts";
import { silentLog } from "../../src/log/log.ts";
import { openAccess } from "../../src/wiring/access.ts";
import { ConfigError, loadConfig } from "../../src/wiring/config.ts";
import { lockDatabase } from "../faults/lock-database.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const open = (env: Readonly<Record<string, string>> = {}) =>
  openAccess(loadConfig({ KIBITZ_DATA_DIR: folder, ...env }), silentLog);

const caller = { address: "192.0.2.1", forwardedFor: undefined, authorization: undefined };

async function newKey(access: Access, plan = "free"): Promise<string> {
  const issued = await access.keys.issue({ name: undefined, plan });
  if (issued.kind !== "issued") {
    throw new Error("not issued");
  }
  return `Bearer ${issued.key}`;
}

const accountOf = async (access: Access, authorization?: string): Promise<Account> =>
  access.accountOf({ ...caller, authorization });

test("API keys, their last use and the used engine time survive a restart", async () => {
  const before = await open();
  const authorization = await newKey(before);
  const account = await accountOf(before, authorization);
  const entry = await before.limits.enter(account, { expectedMs: 1000, longestMs: 1000 });
  if (entry.kind === "entered") {
    entry.entered.leave(1234, true);
  }
  await before[Symbol.asyncDispose]();

  await using after = await open();
  const again = await accountOf(after, authorization);
  expect(again.key?.lastUsedAt).toBeGreaterThan(Date.now() - 60_000);
  const left = (await after.limits.allWindowsOf(again)).map(({ policy, remaining }) => [
    policy.name,
    remaining,
  ]);
  expect(left).toEqual([
    ["minute", 240],
    ["engine-day", 3_600_000 - 1234],
    ["refusals", 120],
  ]);
});

test("a stop does not wait for a database that stays locked, and the log says once that usage is lost", async () => {
  const dataDir = join(folder, "locked");
  const errors: string[] = [];
  const log = { ...silentLog, error: (_: object, message: string) => void errors.push(message) };
  const access = await openAccess(loadConfig({ KIBITZ_DATA_DIR: dataDir }), log, {
    flushMs: 10,
    busyMaxMs: 600_000,
  });
  const account = await accountOf(access, await newKey(access));
  const { release } = lockDatabase(dataDir);
  for (const engineMs of [1234, 567]) {
    const entry = await access.limits.enter(account, { expectedMs: 1000, longestMs: 1000 });
    if (entry.kind === "entered") {
      entry.entered.leave(engineMs, true);
    }
    // The first usage is waiting for the lock when the second one is added.
    await sleep(100);
  }
  await access[Symbol.asyncDispose]();
  expect(errors).toEqual(["the latest usage could not be saved and is lost"]);
  release();
  // Closing again does nothing.
  await access[Symbol.asyncDispose]();
  expect(errors).toHaveLength(1);
});

test("a database from a newer Kibitz version is refused, and the error says how to fix the problem", async () => {
  const newer = join(folder, "newer");
  await (await open({ KIBITZ_DATA_DIR: newer }))[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(newer, "kibitz.db"));
  database.exec("PRAGMA user_version = 99");
  database.close();
  const opening = open({ KIBITZ_DATA_DIR: newer });
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toThrow(
    /newer Kibitz \(version 99, .*Run the newer version, or put back the copy of the database from before/,
  );
});

describe("API keys with a pepper", () => {
  const pepper = "a pepper of sixteen characters";
  const openWith = (name: string, keyPepper: string | undefined) =>
    open({ KIBITZ_DATA_DIR: join(folder, name), ...(keyPepper && { KIBITZ_KEY_PEPPER: keyPepper }) });
  async function makeKey(name: string, keyPepper: string | undefined): Promise<string> {
    await using access = await openWith(name, keyPepper);
    return newKey(access);
  }

  test.each([
    ["changed", pepper, "another pepper than this one", /made with another pepper.*set the pepper that/],
    ["missing", pepper, undefined, /made with a pepper, and none is set.*set the pepper that/],
    ["set only later", undefined, pepper, /made without a pepper.*unset it/],
  ])("a server does not start if the pepper of its API keys is %s", async (name, made, started, message) => {
    await makeKey(name, made);
    const opening = openWith(name, started);
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toThrow(join(folder, name, "kibitz.db"));
  });

  test("API keys work with the pepper with which they were made, even in an old database without a pepper check", async () => {
    const authorization = await makeKey("older", pepper);
    const database = new DatabaseSync(join(folder, "older", "kibitz.db"));
    database.exec(`DROP TABLE pepper_check; DROP INDEX api_key_expires; ALTER TABLE api_key DROP COLUMN expires_at;
      ALTER TABLE api_key DROP COLUMN account; ALTER TABLE api_key DROP COLUMN replaced_by; PRAGMA user_version = 2`);
    database.close();
    {
      await using access = await openWith("older", pepper);
      expect((await accountOf(access, authorization)).key).toBeDefined();
    }
    await expect(openWith("older", undefined)).rejects.toThrow(ConfigError);
  });

  test("the pepper may be removed when all API keys are revoked", async () => {
    await makeKey("revoked", pepper);
    {
      await using access = await openWith("revoked", pepper);
      const [key] = await access.keys.list();
      await access.keys.revoke(key?.id ?? "");
    }
    await (await openWith("revoked", undefined))[Symbol.asyncDispose]();
  });
});

describe("self-service keys", () => {
  const from = (address: string) => ({ ...caller, address });
  const get = async (access: Access, address: string, idempotencyKey?: string) => {
    const issued = await access.selfService?.issue({ address, name: undefined, idempotencyKey });
    return issued?.kind === "issued" ? `Bearer ${issued.key}` : issued?.kind;
  };

  test("all self-service keys of an address belong to one caller, and each key from an operator belongs to a separate caller", async () => {
    await using access = await open({ KIBITZ_DATA_DIR: join(folder, "one caller") });
    const [one, other] = [await get(access, "198.51.100.1"), await get(access, "198.51.100.1")];
    const elsewhere = await get(access, "198.51.100.2");
    const subjects = [one, other, elsewhere, await newKey(access), await newKey(access), undefined].map(
      async (authorization) =>
        (await access.accountOf({ ...from("198.51.100.1"), authorization: authorization as string })).subject,
    );
    const [first, ...others] = await Promise.all(subjects);
    expect(others.map((subject) => subject === first)).toEqual([true, false, false, false, false]);
    expect(new Set(others).size).toBe(5);
  });

  test("all self-service keys of an address still share their limits and used engine time after a restart", async () => {
    const env = { KIBITZ_DATA_DIR: join(folder, "restarted") };
    const before = await open(env);
    const [one, other] = [await get(before, "198.51.100.1"), await get(before, "198.51.100.1")];
    // Each key is used from another address, so the limits of an address do not matter.
    for (const [index, authorization] of [one, other].entries()) {
      const account = await before.accountOf({ ...from(`203.0.113.${index}`), authorization });
      const entry = await before.limits.enter(account, { expectedMs: 1000, longestMs: 1000 });
      if (entry.kind === "entered") {
        entry.entered.leave(1_800_000, true);
      }
    }
    await before[Symbol.asyncDispose]();

    await using after = await open(env);
    for (const authorization of [one, other]) {
      const account = await after.accountOf({ ...from("203.0.113.9"), authorization });
      expect(account.subject).toBe("keys of 198.51.100.1");
      expect(await after.limits.enter(account, { expectedMs: 1000, longestMs: 1000 })).toMatchObject({
        refusal: { code: "quota_exhausted" },
      });
    }
  });

  test("if the configured maximum of self-service keys is reached, no more keys are issued, and one warning is logged", async () => {
    const warned: string[] = [];
    const log = { ...silentLog, warn: (_: unknown, text: string) => warned.push(text) };
    const env = { KIBITZ_DATA_DIR: join(folder, "full"), KIBITZ_SELF_SERVICE_KEYS_MAX: "2" };
    await using access = await openAccess(loadConfig(env), log);
    const got: unknown[] = [];
    for (const address of ["198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"]) {
      got.push(await get(access, address));
    }
    expect(got).toEqual([expect.stringMatching(/^Bearer/), expect.stringMatching(/^Bearer/), "full", "full"]);
    expect(warned).toEqual([expect.stringContaining("KIBITZ_SELF_SERVICE_KEYS_MAX")]);
    await newKey(access);
  });

  test("self-service keys that were unused for long are deleted in small groups", async () => {
    const env = { KIBITZ_DATA_DIR: join(folder, "pruned"), KIBITZ_KEY_EXPIRY_DAYS: "10" };
    await using access = await open(env);
    for (let count = 0; count < 25; count++) {
      await access.keys.issue({ name: undefined, plan: "free", issuedTo: "198.51.100.1" });
    }
    await newKey(access);
    const dayMs = 86_400_000;
    const database = new DatabaseSync(join(folder, "pruned", "kibitz.db"));
    const age = (days: number) =>
      database.prepare("UPDATE api_key SET created_at = ?").run(Date.now() - days * dayMs);
    age(39);
    await access.prune();
    expect(await access.keys.list()).toHaveLength(26);
    age(41);
    await access.prune();
    expect(await access.keys.list()).toHaveLength(6);
    await access.prune();
    expect(await access.keys.list()).toMatchObject([{ issuedTo: undefined }]);
    database.close();
  });
});

describe("a caller", () => {
  test("a caller without an API key is identified by the address and has the keyless plan", async () => {
    await using access = await open();
    expect(await accountOf(access)).toMatchObject({
      subject: "192.0.2.1",
      address: "192.0.2.1",
      plan: { id: "keyless" },
      key: undefined,
    });
  });

  test("a caller with an API key is identified by the key and has the key's plan, or the free plan if that plan no longer exists", async () => {
    await using access = await open();
    const account = await accountOf(access, await newKey(access));
    expect(account).toMatchObject({ subject: account.key?.id, address: "192.0.2.1", plan: { id: "free" } });
    expect(await accountOf(access, await newKey(access, "gone"))).toMatchObject({ plan: { id: "free" } });
  });

  test.each(["public", "keys"])(
    "in %s mode, a caller who sends X-API-Key is refused, and the error names the right header",
    async (mode) => {
      await using access = await open({ KIBITZ_ACCESS: mode });
      await expect(access.accountOf({ ...caller, hasXApiKey: true })).rejects.toThrow(
        expect.objectContaining({
          code: "invalid_api_key",
          message: "The request has an X-API-Key header: send your API key as `Authorization: Bearer kbz_…`.",
        }),
      );
      // With a valid key, X-API-Key is ignored.
      const authorization = await newKey(access);
      expect(await access.accountOf({ ...caller, authorization, hasXApiKey: true })).toMatchObject({
        plan: { id: "free" },
      });
    },
  );

  test("the header X-API-Key is ignored in open mode", async () => {
    await using access = await open({ KIBITZ_ACCESS: "open" });
    expect(await access.accountOf({ ...caller, hasXApiKey: true })).toMatchObject({ plan: openPlan });
  });

  test.each([
    ["Basic YTpi", "of the scheme Basic"],
    ["digest username=x", "of the scheme digest"],
    ["kbz_secret", "of another form"],
    ["secret word", "of another form"],
    ["", "of another form"],
  ])(
    "the error for the Authorization header %j contains the scheme, but no secret",
    async (authorization, what) => {
      await using access = await open();
      await expect(accountOf(access, authorization)).rejects.toMatchObject({
        code: "invalid_api_key",
        message: `The request has an Authorization header ${what}: send your API key as \`Authorization: Bearer kbz_…\`.`,
      });
    },
  );

  test("callers with and without an API key have no limits in open mode", async () => {
    await using access = await open({ KIBITZ_ACCESS: "open" });
    expect((await accountOf(access)).plan).toBe(openPlan);
    expect((await accountOf(access, await newKey(access))).plan).toBe(openPlan);
  });
});

test.each([
  [{}, 5],
  [{ KIBITZ_KEYS_PER_DAY: "2" }, 2],
  [{ KIBITZ_SELF_SERVICE_KEYS: "false" }, undefined],
  [{ KIBITZ_ACCESS: "keys" }, undefined],
  [{ KIBITZ_ACCESS: "open" }, undefined],
  [{ KIBITZ_ACCESS: "keys", KIBITZ_SELF_SERVICE_KEYS: "true" }, 5],
])("the settings %o allow this number of self-service keys a day: %s", async (env, max) => {
  await using access = await open(env as unknown as Record<string, string>);
  let issued = 0;
  const wish = { address: JSON.stringify(env), name: undefined, idempotencyKey: undefined };
  while ((await access.selfService?.issue(wish))?.kind === "issued") {
    issued++;
  }
  expect(issued).toBe(max ?? 0);
  expect(access.selfService === undefined).toBe(max === undefined);
});
