import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { describeWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { useRedis } from "../support/redis.ts";
import { startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const root = useTemporaryFolder();
let folders = 0;

function newPlace() {
  const folder = join(root, String(folders++));
  mkdirSync(folder);
  const data = join(folder, "data");
  const env = { KIBITZ_DATA_DIR: data };
  const ask = (...args: readonly string[]) => runKibitz(args, env);
  const makeKey = async (name: string) =>
    JSON.parse((await ask("keys", "create", "--json", "--name", name)).stdout) as { id: string; key: string };
  const copy = join(folder, "copy.db");
  return { folder, data, env, ask, makeKey, copy };
}

test("kibitz backup beside a running server copies keys and engine time to a file for its owner, and the restored server accepts the keys", async () => {
  const { data, env, ask, makeKey, copy } = newPlace();
  const first = await makeKey("first");
  const server = await startServer({ ...quickestSettings, ...env, KIBITZ_ACCESS: "keys" });
  onTestFinished(() => void server.stop("SIGKILL"));
  const statusOf = async (url: string, key: string) =>
    (await fetch(`${url}/v1/keys/self`, { headers: { Authorization: `Bearer ${key}` } })).status;
  expect(await statusOf(server.url, first.key)).toBe(200);
  // The key is in the log of SQLite, and not yet in its file.
  const second = await makeKey("second");
  expect(await ask("backup", copy)).toEqual({
    code: 0,
    stdout: `2 keys, and the engine time used, are in ${copy}\n`,
    stderr: "",
  });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(data, "..")).toSorted()).toEqual(["copy.db", "data"]);

  await ask("keys", "revoke", second.id);
  const third = await makeKey("third");
  const refused = await ask("restore", copy);
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr: `kibitz: a server or another command has ${join(data, "kibitz.db")} open: stop the server first. Nothing was changed.\n`,
  });
  expect(await statusOf(server.url, third.key)).toBe(200);
  await server.stop();

  expect(await ask("restore", copy)).toEqual({
    code: 0,
    stdout: `2 keys, and the engine time used, are in ${join(data, "kibitz.db")}\n`,
    stderr: [
      `kibitz: the earlier database is ${join(data, "kibitz.db.before-restore")}\n`,
      "kibitz: keys that were revoked after the copy was made are valid again: revoke them again. Keys that were made after it are gone\n",
      `kibitz: valid again: ${second.id}\n`,
    ].join(""),
  });
  const again = await startServer({ ...quickestSettings, ...env, KIBITZ_ACCESS: "keys" });
  onTestFinished(() => void again.stop("SIGKILL"));
  const statuses = [first, second, third].map(({ key }) => statusOf(again.url, key));
  expect(await Promise.all(statuses)).toEqual([200, 200, 401]);
}, 60_000);

test("kibitz backup copies the used engine time", async () => {
  const { data, ask, makeKey, copy } = newPlace();
  await makeKey("a");
  {
    using database = openDatabase(data);
    const used = { rate: "free/engine-day", subject: "a", engineMs: 700, resetsAt: Date.now() + 60_000 };
    await createSqliteUsageStore(database).add([used], Date.now());
  }
  await ask("backup", copy);
  using database = new DatabaseSync(copy, { readOnly: true });
  expect(database.prepare("SELECT subject, engine_ms FROM engine_time").all()).toEqual([
    { subject: "a", engine_ms: 700 },
  ]);
});

test("kibitz backup never replaces a file, and makes no database", async () => {
  const { folder, data, ask, makeKey, copy } = newPlace();
  expect(await ask("backup", copy)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("there is no "),
  });
  expect(existsSync(data)).toBe(false);
  await makeKey("a");
  writeFileSync(copy, "precious");
  expect(await ask("backup", copy)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("exists, and is not replaced"),
  });
  expect(readFileSync(copy, "utf8")).toBe("precious");
  for (const file of [folder, join(folder, "none", "copy.db")]) {
    expect(await ask("backup", file)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(file),
    });
  }
  expect(await ask("backup")).toMatchObject({ code: 2 });
  expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "data"]);
});

test("kibitz backup and restore name the files that killed commands have left, and never those of running commands", async () => {
  const { folder, data, ask, makeKey, copy } = newPlace();
  await makeKey("a");
  const nameOf = (file: string) => `.${file}.01234567-89ab-cdef-0123-456789abcdef.tmp`;
  const [left, running, other] = [nameOf("copy.db"), nameOf("copy.db").replace("0", "1"), nameOf("other.db")];
  const leftOfRestore = join(data, nameOf("kibitz.db"));
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const file of [join(folder, left), join(folder, running), join(folder, other), leftOfRestore]) {
    writeFileSync(file, "half a copy");
    utimesSync(file, longAgo, longAgo);
  }
  utimesSync(join(folder, running), new Date(), new Date());
  const noteOn = (file: string) => `kibitz: a command that was killed has left ${file}: delete this file\n`;
  expect(await ask("backup", copy)).toMatchObject({ code: 0, stderr: noteOn(join(folder, left)) });
  expect(await ask("restore", copy)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(noteOn(leftOfRestore)),
  });
  expect(existsSync(leftOfRestore)).toBe(true);
});

test("of simultaneous backups to one file, exactly one succeeds", async () => {
  const { folder, ask, makeKey, copy } = newPlace();
  await makeKey("a");
  const codes = (await Promise.all(Array.from({ length: 5 }, () => ask("backup", copy)))).map(
    ({ code }) => code,
  );
  expect(codes.toSorted()).toEqual([0, 1, 1, 1, 1]);
  expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "data"]);
});

test("each kibitz restore keeps the earlier database under a new number, and makes a missing database", async () => {
  const { data, ask, makeKey, copy } = newPlace();
  await makeKey("a");
  await ask("backup", copy);
  for (const name of ["b", "c"]) {
    await makeKey(name);
    expect(await ask("restore", copy)).toMatchObject({ code: 0 });
  }
  const namesIn = async (file: string) => {
    const elsewhere = join(root, String(folders++));
    mkdirSync(elsewhere);
    copyFileSync(join(data, file), join(elsewhere, "kibitz.db"));
    const { stdout } = await runKibitz(["keys", "list", "--json"], { KIBITZ_DATA_DIR: elsewhere });
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).name);
  };
  expect(await namesIn("kibitz.db")).toEqual(["a"]);
  expect(await namesIn("kibitz.db.before-restore")).toEqual(["a", "b"]);
  expect(await namesIn("kibitz.db.before-restore-2")).toEqual(["a", "c"]);
  expect(readdirSync(data)).toHaveLength(3);

  const other = newPlace();
  expect(await other.ask("restore", copy)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("the database is new"),
  });
  expect(readdirSync(other.data)).toEqual(["kibitz.db"]);
  expect(statSync(join(other.data, "kibitz.db")).mode & 0o777).toBe(0o600);
});

test("kibitz restore keeps a damaged database with its other files, and ignores its old log", async () => {
  const { data, ask, makeKey, copy } = newPlace();
  await makeKey("a");
  await ask("backup", copy);
  const file = join(data, "kibitz.db");
  writeFileSync(file, "no database at all, but long enough to have a header");
  writeFileSync(`${file}-wal`, "an old log");
  expect(await ask("restore", copy)).toMatchObject({ code: 0 });
  expect(readFileSync(`${file}.before-restore`, "utf8")).toMatch(/^no database/);
  expect(readFileSync(`${file}.before-restore-wal`, "utf8")).toBe("an old log");
  expect((await ask("keys", "list")).stdout).toContain("valid");
});

test("kibitz restore changes nothing if the copy has another pepper, is newer, foreign, damaged, or no copy", async () => {
  const { folder, data, ask, makeKey, copy } = newPlace();
  await makeKey("a");
  await ask("backup", copy);
  const newer = join(folder, "newer.db");
  copyFileSync(copy, newer);
  const database = new DatabaseSync(newer);
  database.exec("PRAGMA user_version = 99");
  database.close();
  const foreign = join(folder, "foreign.db");
  const other = new DatabaseSync(foreign);
  other.exec("CREATE TABLE api_key (id, created_at); INSERT INTO api_key VALUES (1, 2)");
  other.close();
  const damaged = join(folder, "damaged.db");
  const bytes = readFileSync(copy);
  bytes.fill(0xff, 8192, 12_288);
  writeFileSync(damaged, bytes);
  const text = join(folder, "keys.jsonl");
  writeFileSync(text, (await ask("keys", "export")).stdout);
  const before = readFileSync(join(data, "kibitz.db"), "hex");
  const peppered = { KIBITZ_DATA_DIR: data, KIBITZ_KEY_PEPPER: "a pepper of sixteen characters" };
  const refusals = [
    [
      await runKibitz(["restore", copy], peppered),
      /KIBITZ_KEY_PEPPER: .* were made without a pepper.*Nothing was changed/,
    ],
    [await ask("restore", newer), /newer Kibitz \(version 99.*Nothing was changed.*Run the newer version/],
    [await ask("restore", foreign), /is no database of Kibitz.*Nothing was changed/],
    [await ask("restore", damaged), /damaged|malformed/],
    [await ask("restore", text), /is no copy of a database; kibitz keys import/],
    [await ask("restore", folder), /is no ordinary file/],
    [await ask("restore", join(folder, "none")), /cannot be read: ENOENT/],
  ] as const;
  for (const [finished, message] of refusals) {
    expect(finished).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  }
  expect(readdirSync(data)).toEqual(["kibitz.db"]);
  expect(readFileSync(join(data, "kibitz.db"), "hex")).toBe(before);
});

describeWith("redis")("a backup of keys in Redis", () => {
  const redis = useRedis();

  test("kibitz backup and restore copy the keys of Redis, say what is not in the copy, and never revive a revoked key", async () => {
    const { folder, copy } = newPlace();
    const env = { KIBITZ_REDIS_URL: redis.url, KIBITZ_KEY_PEPPER: "a pepper of sixteen characters" };
    const ask = (...args: readonly string[]) => runKibitz(args, env);
    const { id } = JSON.parse((await ask("keys", "create", "--json")).stdout);
    expect(await ask("backup", copy)).toEqual({
      code: 0,
      stdout: `1 key of Redis are in ${copy}\n`,
      stderr: expect.stringMatching(/^kibitz: not in it: the engine time used/),
    });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(await ask("backup", copy)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is not replaced"),
    });
    const elsewhere = { ...env, KIBITZ_REDIS_PREFIX: "restored:" };
    expect(await runKibitz(["restore", copy], elsewhere)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 key imported/),
      stderr: expect.stringContaining("not restored, because"),
    });
    await ask("keys", "revoke", id);
    expect(await ask("restore", copy)).toMatchObject({ code: 0 });
    expect((await ask("keys", "list")).stdout).toContain("revoked");
    const other = {
      ...env,
      KIBITZ_KEY_PEPPER: "another of sixteen characters",
      KIBITZ_REDIS_PREFIX: "other:",
    };
    expect(await runKibitz(["restore", copy], other)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("KIBITZ_KEY_PEPPER"),
    });
    const database = newPlace();
    await database.makeKey("a");
    await database.ask("backup", join(folder, "database"));
    expect(await ask("restore", join(folder, "database"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("this is a copy of a database, and the keys are in Redis"),
    });
  });
});
