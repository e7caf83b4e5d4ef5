import { describe, expect, test } from "vitest";
import type { Access } from "../src/access/access.ts";
import type { Account } from "../src/access/account.ts";
import { openPlan } from "../src/access/plans.ts";
import { loadConfig } from "../src/config.ts";
import { silentLog } from "../src/log/log.ts";
import { openAccess } from "../src/open-access.ts";
import { useTemporaryFolder } from "./support/temporary-folder.ts";

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

test("keys, when they were used, and engine time survive a restart", async () => {
  const before = await open();
  const authorization = await newKey(before);
  const account = await accountOf(before, authorization);
  const entry = await before.limits.enter(account, { expectedMs: 1000, longestMs: 1000 });
  if (entry.kind === "admitted") {
    entry.admission.leave(1234, true);
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
  ]);
});

describe("a caller", () => {
  test("without a key is known by address, in the keyless plan", async () => {
    await using access = await open();
    expect(await accountOf(access)).toMatchObject({
      subject: "192.0.2.1",
      address: "192.0.2.1",
      plan: { id: "keyless" },
      key: undefined,
    });
  });

  test("with a key is known by it, in its plan; if that is gone, in the free one", async () => {
    await using access = await open();
    const account = await accountOf(access, await newKey(access));
    expect(account).toMatchObject({ subject: account.key?.id, address: "192.0.2.1", plan: { id: "free" } });
    expect(await accountOf(access, await newKey(access, "gone"))).toMatchObject({ plan: { id: "free" } });
  });

  test("has no limits in an open network, with a key or without", async () => {
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
])("with %o callers get so many keys by themselves: %s", async (env, max) => {
  await using access = await open(env as unknown as Record<string, string>);
  expect(access.selfService?.quota.max).toBe(max);
});
