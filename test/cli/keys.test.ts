import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createApiKey } from "../../src/access/keys.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { keyRecord } from "../contract/access-stores.ts";
import { describeWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { useRedis } from "../support/redis.ts";
import { startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const folder = useTemporaryFolder();
const env = { KIBITZ_DATA_DIR: join(folder, "data") };
const keys = (...args: readonly string[]) => runKibitz(["keys", ...args], env);

test("kibitz keys creates, lists, rotates and revokes keys", async () => {
  const created = await keys("create", "--name", "my bot");
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining("not be shown again") });
  expect(created.stdout).toMatch(/^kbz_[0-9A-Za-z]{36}\n$/);

  const listed = await keys("list");
  expect(listed.stdout).toMatch(
    /^ID +PLAN +CREATED +LAST USED +STATE +NAME\n\S{36} +free +.{16} +never +valid +my bot\n$/,
  );
  expect(listed.stdout).not.toContain("kbz_");

  const [row] = (await keys("list", "--json")).stdout.split("\n");
  const { id, ...rest } = JSON.parse(row ?? "");
  expect(rest).toEqual({
    name: "my bot",
    plan: "free",
    created_at: expect.stringMatching(/Z$/),
    last_used_at: null,
    revoked_at: null,
    expires_at: null,
  });

  const rotated = JSON.parse((await keys("rotate", id, "--json")).stdout);
  expect(rotated).toMatchObject({ name: "my bot", plan: "free", key: expect.stringMatching(/^kbz_/) });
  expect(await keys("revoke", rotated.id)).toMatchObject({ code: 0, stdout: `${rotated.id} is revoked\n` });
  expect((await keys("list")).stdout.match(/revoked/g)).toHaveLength(2);
}, 60_000);

test("kibitz keys list shows when self-service keys expire or have expired", async () => {
  const data = join(folder, "callers");
  const database = openDatabase(data);
  const store = createSqliteKeyStore(database);
  const dayMs = 86_400_000;
  const now = Date.now();
  const unused = keyRecord({ id: "unused", issuedTo: "192.0.2.1", createdAt: now - 10 * dayMs });
  await store.create(unused);
  await store.create({ ...unused, id: "used", hash: "used", lastUsedAt: now - dayMs });
  database.close();
  const list = (...args: readonly string[]) =>
    runKibitz(["keys", "list", ...args], { KIBITZ_DATA_DIR: data, KIBITZ_KEY_EXPIRY_DAYS: "9" });
  const { stdout } = await list();
  expect(stdout).toMatch(/^unused .* expired \d{4}-/m);
  expect(stdout).toMatch(/^used .* valid/m);
  const rows = (await list("--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(rows.map(({ id, expires_at: at }) => [id, Date.parse(at)])).toEqual([
    ["unused", now - dayMs],
    ["used", now + 8 * dayMs],
  ]);
});

test.each([
  [[], "create, list, revoke, rotate"],
  [["mint"], "create, list, revoke, rotate"],
  [["create", "--plan", "gold"], "the plans are free"],
  [["create", "--plan", "keyless"], "the plans are free"],
  [["create", "--name", "a\tb"], "must not contain control characters"],
  [["create", "me"], "takes no arguments"],
  [["revoke"], "needs the id of a key"],
  [["revoke", "nobody"], "no valid key"],
  [["rotate", "nobody"], "no valid key"],
])("kibitz keys %j exits with 2 and a message about the correct usage", async (args, message) => {
  expect(await keys(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

test("kibitz keys create prints the path of the database, and whether the database is new", async () => {
  const data = join(folder, "somewhere");
  const create = (...args: readonly string[]) =>
    runKibitz(["keys", "create", ...args], { KIBITZ_DATA_DIR: relative(process.cwd(), data) });
  const first = await create();
  expect(first.stderr).toContain(`kibitz: the keys are in ${join(data, "kibitz.db")} (new)\n`);
  const second = await create("--json");
  expect(second.stderr).toBe(`kibitz: the keys are in ${join(data, "kibitz.db")}\n`);
});

test("every kibitz keys command fails if the keys were created with another pepper", async () => {
  const data = { KIBITZ_DATA_DIR: join(folder, "peppered") };
  const pepper = { KIBITZ_KEY_PEPPER: "a pepper of sixteen characters" };
  expect(await runKibitz(["keys", "create"], { ...data, ...pepper })).toMatchObject({ code: 0 });
  for (const action of ["create", "list"]) {
    expect(await runKibitz(["keys", action], data)).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^kibitz: KIBITZ_KEY_PEPPER: the keys in \S+kibitz\.db were made with a pepper/,
      ),
    });
  }
});

test("kibitz keys explains how to fix a data folder that cannot be created", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect(await runKibitz(["keys", "list"], { KIBITZ_DATA_DIR: join(file, "data") })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^kibitz: KIBITZ_DATA_DIR: .*Name a folder that Kibitz may write to/),
  });
});

test("a server never prints its pepper or a key from a request, at any log level", async () => {
  const logged: string[] = [];
  const { url, complaints, stop } = await startServer(
    {
      ...quickestSettings,
      ...env,
      KIBITZ_LOG_LEVEL: "trace",
      KIBITZ_KEY_PEPPER: "canary pepper, never to be seen",
    },
    { onLog: (line) => logged.push(line) },
  );
  onTestFinished(() => void stop("SIGKILL"));
  const canary = createApiKey();
  for (const authorization of [`Bearer ${canary}`, canary, `Basic ${canary}`]) {
    const { status } = await fetch(`${url}/v1/keys/self`, { headers: { authorization } });
    expect(status).toBe(401);
  }
  await stop();
  expect(logged.join("\n")).toContain('"code":"invalid_api_key"');
  const printed = [...logged, ...complaints].join("\n");
  expect(printed).not.toContain(canary);
  expect(printed).not.toContain("canary");
});

describeWith("redis")("keys that nodes share", () => {
  const redis = useRedis();

  test("kibitz keys create prints the address of Redis, and kibitz keys and kibitz serve fail with another pepper", async () => {
    const shared = { KIBITZ_REDIS_URL: redis.url, KIBITZ_REDIS_PREFIX: "pepper:" };
    const created = await runKibitz(["keys", "create"], {
      ...shared,
      KIBITZ_KEY_PEPPER: "a pepper of sixteen characters",
    });
    expect(created.stderr).toContain(`the keys are in ${redis.url} (prefix pepper:)\n`);
    const complaint = /^kibitz: KIBITZ_KEY_PEPPER: the keys in .* were made with a pepper, and none is set/;
    for (const args of [["keys", "create"], ["serve"]]) {
      const { code, stderr } = await runKibitz(args, { ...shared, KIBITZ_PORT: "0" });
      expect([code, stderr]).toEqual([1, expect.stringMatching(complaint)]);
    }
  });

  const dayMs = 86_400_000;

  test.each([-100, 100])(
    "times in key records come from the clock of Redis, even if the clock of this machine is wrong by %i days",
    async (days) => {
      const began = Date.now();
      const shared = { KIBITZ_REDIS_URL: redis.url, KIBITZ_REDIS_PREFIX: `clock${days}:` };
      const ask = (...args: readonly string[]) => runKibitz(["keys", ...args], shared);
      vi.useFakeTimers({ toFake: ["Date"], now: began + days * dayMs });
      onTestFinished(() => void vi.useRealTimers());
      const { id } = JSON.parse((await ask("create", "--json")).stdout);
      await ask("revoke", id);
      const issued = { id: "self", hash: "a".repeat(64), name: null, plan: "free", revoked_at: null };
      const used = { created_at: new Date(began).toISOString(), last_used_at: null, issued_to: "192.0.2.1" };
      await runKibitz(["keys", "import", "-"], shared, [JSON.stringify({ ...issued, ...used })]);
      const listed = await ask("list", "--json");
      expect((await ask("list")).stdout).toMatch(/^self .* valid/m);
      vi.useRealTimers();
      const [row] = listed.stdout
        .split("\n")
        .map((line) => JSON.parse(line || "{}"))
        .filter((key) => key.id === id);
      for (const time of [row.created_at, row.revoked_at]) {
        expect(Math.abs(Date.parse(time) - began)).toBeLessThan(60_000);
      }
    },
  );
});
