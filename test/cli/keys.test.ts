import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
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
    account: null,
    replaced_by: null,
  });

  const rotated = JSON.parse((await keys("rotate", id, "--json")).stdout);
  expect(rotated).toMatchObject({
    name: "my bot",
    plan: "free",
    account: id,
    key: expect.stringMatching(/^kbz_/),
  });
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
  [["create", "--count", "0"], "--count must be a whole number from 1 to 1000"],
  [["create", "--count", "1001"], "--count must be a whole number from 1 to 1000"],
  [["create", "--count", "1e2"], "--count must be a whole number from 1 to 1000"],
  [["create", "--expires", "2020-01-01"], "is in the past"],
  [["create", "--expires", "2030-02-30"], "--expires must be never, a time from now"],
  [["create", "--expires", "2030-01-01T10:00"], "--expires must be never, a time from now"],
  [["create", "--overlap", "1d"], "--overlap is not for create, but for rotate"],
  [["list", "--plan", "free"], "--plan is not for list, but for create and update"],
  [["rotate", "id", "--overlap", "31d"], "at most 30d"],
  [["rotate", "id", "--overlap", "0d"], "at most 30d"],
  [["update", "id"], "update needs --name, --plan or --expires"],
  [["update", "id", "--plan", "gold"], "the plans are free"],
  [["update"], "needs the id of a key"],
  [["update", "nobody", "--name", "a"], "no valid key"],
  [["revoke"], "needs the id of a key"],
  [["revoke", "nobody"], "no valid key"],
  [["rotate", "nobody"], "no valid key"],
  [["rotate", "n".repeat(99)], `no valid key "${"n".repeat(64)}"…;`],
  [["create", "--plan", "p".repeat(99)], `there is no plan "${"p".repeat(64)}"… for keys`],
])("kibitz keys %j exits with 2 and a message about the correct usage", async (args, message) => {
  expect(await keys(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

test("kibitz keys create prints the path of the database, and whether the database is new", async () => {
  const data = join(folder, "somewhere");
  const create = (...args: readonly string[]) =>
    runKibitz(["keys", "create", ...args], { KIBITZ_DATA_DIR: relative(process.cwd(), data) });
  const first = await create();
  expect(first.stderr).toContain(`kibitz: the keys are in ${join(data, "kibitz.db")} (new: a server finds`);
  const second = await create("--json");
  expect(second.stderr).toBe(`kibitz: the keys are in ${join(data, "kibitz.db")}\n`);
});

test("kibitz keys update changes plan, name and end of a key, prints old and new, and never makes a revoked key valid", async () => {
  const plans = join(folder, "plans.json");
  writeFileSync(plans, '{"plans": [{"id": "club"}]}');
  const here = { KIBITZ_DATA_DIR: join(folder, "updated"), KIBITZ_PLANS: plans };
  const ask = (...args: readonly string[]) => runKibitz(["keys", ...args], here);
  const { id } = JSON.parse((await ask("create", "--json", "--expires", "2100-01-01")).stdout);
  const update = (...args: readonly string[]) => ask("update", id, ...args);
  expect(await update("--plan", "club", "--name", "bot", "--expires", "never")).toEqual({
    code: 0,
    stderr: "",
    stdout: `${id}: plan free, now club; name none, now "bot"; expires 2100-01-01 00:00, now never\n`,
  });
  expect((await update("--plan", "club")).stdout).toBe(`${id}: nothing to change\n`);
  const { before, after } = JSON.parse((await update("--name", "", "--json")).stdout);
  expect([before, after]).toMatchObject([
    { name: "bot" },
    { id, name: null, plan: "club", expires_at: null },
  ]);
  await ask("revoke", id);
  const revoked = await ask("list");
  const refusal = { code: 2, stdout: "", stderr: expect.stringMatching(/was revoked \(20.*and stays so/) };
  expect(await update("--expires", "2100-01-01")).toEqual(refusal);
  expect(await ask("rotate", id, "--overlap", "1d")).toMatchObject(refusal);
  expect(await ask("list")).toEqual(revoked);
});

test("kibitz keys create --count prints one key a line, and kibitz keys rotate --overlap keeps the earlier key for that time", async () => {
  const here = { KIBITZ_DATA_DIR: join(folder, "many") };
  const ask = (...args: readonly string[]) => runKibitz(["keys", ...args], here);
  const created = await ask("create", "--count", "200", "--name", "team", "--expires", "90d");
  expect(created.stdout).toMatch(/^(?:kbz_\w{36}\n){200}$/);
  expect(created.stderr).toMatch(/200 keys, plan free, valid until 20.*; kibitz keys list shows their ids/);
  const rows = (await ask("list", "--json")).stdout.trim().split("\n");
  expect(rows).toHaveLength(200);
  const { id, expires_at: end } = JSON.parse(rows[0] ?? "");
  const rotated = await ask("rotate", id, "--overlap", "7d");
  expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^kbz_/) });
  const list = (await ask("list", "--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [earlier, later] = [list.find((key) => key.id === id), list.find((key) => key.account === id)];
  expect(later).toMatchObject({ name: "team", plan: "free", expires_at: end, revoked_at: null });
  const overlapMs = Date.parse(earlier.expires_at) - Date.now();
  expect(Math.abs(overlapMs - 7 * 86_400_000)).toBeLessThan(60_000);
  expect(rotated.stderr).toContain(`the earlier key ${id} is valid until ${earlier.expires_at.slice(0, 10)}`);
  expect((await ask("list")).stdout).toMatch(new RegExp(`^${id} .* valid until `, "m"));
  expect(earlier.replaced_by).toBe(later.id);
  const before = await ask("list");
  expect(await ask("rotate", id, "--overlap", "14d")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining(`was replaced by ${later.id}`),
  });
  expect(await ask("list")).toEqual(before);
  const next = JSON.parse((await ask("rotate", later.id, "--json")).stdout);
  expect(await ask("rotate", later.id)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(new RegExp(`was revoked \\(20.*was replaced by ${next.id}`)),
  });
});

test("in a folder without a database, kibitz keys update, rotate, revoke, list and export fail and create nothing", async () => {
  const data = join(folder, "wrong");
  mkdirSync(data);
  const commands = [["list"], ["export"], ["revoke", "a"], ["rotate", "a"], ["update", "a", "--name", "b"]];
  // A mistake in the arguments, and a file that is wrong, create no database either.
  const mistakes = [
    ["create", "--plan", "gold"],
    ["import", join(folder, "nowhere")],
  ];
  for (const args of [...commands, ...mistakes]) {
    const { code, stdout, stderr } = await runKibitz(["keys", ...args], { KIBITZ_DATA_DIR: data });
    expect([args, code === 0, stdout]).toEqual([args, false, ""]);
    if (commands.includes(args)) {
      expect(stderr).toBe(
        `kibitz: KIBITZ_DATA_DIR: there is no ${join(data, "kibitz.db")}. Name the folder of the server: only serve, keys create, keys import and restore make a database.\n`,
      );
    }
    expect(readdirSync(data)).toEqual([]);
  }
});

test.each([
  ["while nothing uses it", false],
  ["while a server has it open", true],
])("kibitz keys list and export leave the database and its folder unchanged %s", async (_, isOpen) => {
  const data = join(folder, `read ${isOpen}`);
  await runKibitz(["keys", "create"], { KIBITZ_DATA_DIR: data });
  using database = openDatabase(data);
  if (isOpen) {
    await createSqliteKeyStore(database).create(keyRecord({ id: "in the log", hash: "0".repeat(64) }));
  } else {
    database.close();
  }
  const content = () =>
    readdirSync(data)
      .toSorted()
      .map((name) => [name, name.endsWith("-shm") ? "" : readFileSync(join(data, name), "hex")]);
  const before = content();
  for (const action of ["list", "export"]) {
    const { code, stdout } = await runKibitz(["keys", action], { KIBITZ_DATA_DIR: data });
    expect([code, stdout.includes("in the log")]).toEqual([0, isOpen]);
  }
  expect(content()).toEqual(before);
});

test("kibitz keys list needs no other files if the log of the database is empty, as after a crash", async () => {
  const data = join(folder, "empty log");
  await runKibitz(["keys", "create"], { KIBITZ_DATA_DIR: data });
  writeFileSync(join(data, "kibitz.db-wal"), "");
  expect((await runKibitz(["keys", "list"], { KIBITZ_DATA_DIR: data })).stdout).toContain("valid");
  expect(readdirSync(data).toSorted()).toEqual(["kibitz.db", "kibitz.db-wal"]);
});

test("kibitz keys list reads the database of an older version, and does not migrate it", async () => {
  const data = join(folder, "older");
  mkdirSync(data);
  const older = new DatabaseSync(join(data, "kibitz.db"));
  older.exec(`
    CREATE TABLE api_key (id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT, plan TEXT NOT NULL,
      created_at INTEGER NOT NULL, issued_to TEXT, last_used_at INTEGER, revoked_at INTEGER) STRICT;
    INSERT INTO api_key VALUES ('hand', 'h1', 'mine', 'gold', 1000, NULL, 2000, NULL);
    PRAGMA user_version = 1;`);
  older.close();
  const before = readFileSync(join(data, "kibitz.db"), "hex");
  expect((await runKibitz(["keys", "list"], { KIBITZ_DATA_DIR: data })).stdout).toMatch(
    /^hand +gold .* mine$/m,
  );
  expect(readFileSync(join(data, "kibitz.db"), "hex")).toBe(before);
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
  expect(await runKibitz(["keys", "create"], { KIBITZ_DATA_DIR: join(file, "data") })).toMatchObject({
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
