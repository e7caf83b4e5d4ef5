import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { checkKeys } from "../../../src/cli/doctor/keys.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { freePort } from "../../support/free-port.ts";
import { describeWith } from "../../support/needs.ts";
import { useRedis } from "../../support/redis.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { runKibitz, type Settings } from "../run-kibitz.ts";

const folder = useTemporaryFolder();
const keysWith = (env: Settings) => Array.fromAsync(checkKeys(loadConfig(env)));
const pepper = "0123456789abcdef0123456789abcdef";

/** Runs `serve`, which must not start. */
const expectNoStart = async (env: Settings, words: RegExp) => {
  const { code, stderr } = await runKibitz(["serve"], { ...env, KIBITZ_PORT: "0", KIBITZ_METRICS_PORT: "0" });
  expect([code, stderr]).toEqual([1, expect.stringMatching(words)]);
};

test("kibitz doctor reports nothing about keys before the first start", async () => {
  expect(await keysWith({ KIBITZ_DATA_DIR: join(folder, "none") })).toEqual([]);
});

test("kibitz doctor counts the keys of a database, and changes nothing in its folder", async () => {
  const env = { KIBITZ_DATA_DIR: join(folder, "good") };
  await runKibitz(["keys", "create"], env);
  const stateOf = () =>
    readdirSync(env.KIBITZ_DATA_DIR).map((name) => [name, statSync(join(env.KIBITZ_DATA_DIR, name)).mtimeMs]);
  const before = stateOf();
  expect(await keysWith(env)).toEqual([{ part: "keys", state: "good", found: "1 key" }]);
  expect(stateOf()).toEqual(before);
});

test.each<[string, (data: string) => Settings | Promise<Settings>, RegExp]>([
  [
    "is no database",
    (data) => {
      mkdirSync(data);
      writeFileSync(join(data, "kibitz.db"), "no database ".repeat(1000));
      return {};
    },
    /kibitz\.db cannot be used: file is not a database/,
  ],
  [
    "is of a newer Kibitz",
    async (data) => {
      await runKibitz(["keys", "create"], { KIBITZ_DATA_DIR: data });
      using database = new DatabaseSync(join(data, "kibitz.db"));
      database.exec("PRAGMA user_version = 99");
      return {};
    },
    /written by a newer Kibitz/,
  ],
  [
    "has keys of another pepper",
    async (data) => {
      await runKibitz(["keys", "create"], { KIBITZ_DATA_DIR: data });
      return { KIBITZ_KEY_PEPPER: pepper };
    },
    /KIBITZ_KEY_PEPPER: the keys in .* were made without a pepper/,
  ],
])(
  "if the database %s, kibitz doctor reports the keys as bad, and kibitz serve does not start",
  async (name, prepare, words) => {
    const data = join(folder, name.replaceAll(" ", "-"));
    const env = { KIBITZ_DATA_DIR: data, ...(await prepare(data)) };
    expect(await keysWith(env)).toMatchObject([
      { part: "keys", state: "bad", found: expect.stringMatching(words) },
    ]);
    await expectNoStart(env, words);
  },
);

test("kibitz doctor accepts another pepper if no key is valid", async () => {
  const env = { KIBITZ_DATA_DIR: join(folder, "revoked") };
  const { stdout, stderr } = await runKibitz(["keys", "create", "--json"], env);
  const id = /[0-9a-f-]{36}/.exec(stdout + stderr)?.[0] ?? expect.fail(stdout + stderr);
  await runKibitz(["keys", "revoke", id], env);
  expect(await keysWith({ ...env, KIBITZ_KEY_PEPPER: pepper })).toMatchObject([{ state: "good" }]);
});

test("if Redis does not respond, only the check of Redis reports it", async () => {
  expect(await keysWith({ KIBITZ_REDIS_URL: `redis://127.0.0.1:${await freePort()}` })).toEqual([]);
});

describeWith("redis")("keys in Redis", () => {
  const redis = useRedis();

  test("kibitz doctor reports keys in Redis that were made with another pepper as bad", async () => {
    const env = { KIBITZ_REDIS_URL: redis.url };
    await runKibitz(["keys", "create"], env);
    expect(await keysWith(env)).toMatchObject([{ state: "good", found: "1 key" }]);
    expect(await keysWith({ ...env, KIBITZ_KEY_PEPPER: pepper })).toMatchObject([
      { state: "bad", found: expect.stringMatching(/^KIBITZ_KEY_PEPPER: the keys in redis:/) },
    ]);
  });
});
