import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { describeWith } from "../support/needs.ts";
import { useRedis } from "../support/redis.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { type Finished, runKibitz } from "./run-kibitz.ts";

describeWith("redis")("keys that are copied between stores", () => {
  const redis = useRedis();
  const folder = useTemporaryFolder();
  const inSqlite = (name: string) => ({ KIBITZ_DATA_DIR: join(folder, name) });
  const inRedis = () => ({ KIBITZ_REDIS_URL: redis.url });
  const keys = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
    runKibitz(["keys", ...args], env);
  const importing = (env: Readonly<Record<string, string>>, { stdout }: Pick<Finished, "stdout">) =>
    runKibitz(["keys", "import", "-"], env, [stdout]);

  test("kibitz keys creates, lists, rotates and revokes keys in Redis", async () => {
    expect((await keys(inRedis(), "create", "--name", "my bot")).stdout).toMatch(/^kbz_\w{36}\n$/);
    const [row] = (await keys(inRedis(), "list", "--json")).stdout.split("\n");
    const { id } = JSON.parse(row ?? "");
    const rotated = JSON.parse((await keys(inRedis(), "rotate", id, "--json")).stdout);
    expect(await keys(inRedis(), "revoke", rotated.id)).toMatchObject({ code: 0 });
    expect((await keys(inRedis(), "list")).stdout.match(/revoked/g)).toHaveLength(2);
  });

  test("keys are copied unchanged from SQLite to Redis and back, without secrets, and a second import changes nothing", async () => {
    const { stdout: secret } = await keys(inSqlite("first"), "create", "--name", 'Bobby "♟"');
    await keys(inSqlite("first"), "create", "--name", "revoked");
    const [, second] = (await keys(inSqlite("first"), "list", "--json")).stdout.trim().split("\n");
    await keys(inSqlite("first"), "revoke", JSON.parse(second ?? "").id);
    const exported = await keys(inSqlite("first"), "export");
    expect(exported.stdout).not.toContain(secret.trim());
    expect(exported.stderr).toBe("2 keys exported\n");

    const redisHere = { ...inRedis(), KIBITZ_REDIS_PREFIX: "moved:" };
    expect(await importing(redisHere, exported)).toMatchObject({
      code: 0,
      stdout: "2 keys imported, 0 revoked, 0 there already, 0 left out\n",
    });
    expect((await importing(redisHere, exported)).stdout).toBe(
      "0 keys imported, 0 revoked, 2 there already, 0 left out\n",
    );
    const back = await keys(redisHere, "export");
    expect(back.stdout).toBe(exported.stdout);

    // After the export, another key is revoked in Redis.
    const [first] = exported.stdout.split("\n");
    await keys(redisHere, "revoke", JSON.parse(first ?? "").id);
    const later = await keys(redisHere, "export");
    expect((await importing(inSqlite("first"), later)).stdout).toBe(
      "0 keys imported, 1 revoked, 1 there already, 0 left out\n",
    );
    expect((await keys(inSqlite("first"), "export")).stdout).toBe(later.stdout);
    expect((await importing(inSqlite("other"), later)).stdout).toMatch(/^2 keys imported/);
  });

  test("imported keys that contradict an existing key are reported and skipped", async () => {
    const env = inSqlite("contradicted");
    await keys(env, "create", "--name", "a");
    const line = JSON.parse((await keys(env, "export")).stdout);
    const others = [
      { ...line, plan: "gold" },
      { ...line, id: "another" },
      { ...line, id: "new", hash: "0".repeat(64) },
    ];
    const file = join(folder, "keys.jsonl");
    writeFileSync(file, others.map((other) => `${JSON.stringify(other)}\n`).join(""));
    expect(await keys(env, "import", file)).toEqual({
      code: 1,
      stdout: "1 key imported, 0 revoked, 0 there already, 2 left out\n",
      stderr: expect.stringMatching(
        new RegExp(`^kibitz: ${line.id} was left out: .+\nkibitz: another was left out: .+\n$`),
      ),
    });
  });

  test.each([
    ["not JSON", "kbz_"],
    ["incomplete", '{"id":"a","secret":"b"}'],
    [
      "a key with an invalid hash",
      '{"id":"a","hash":"kbz_","name":null,"plan":"free","created_at":"2026-01-01T00:00:00Z","issued_to":null,"last_used_at":null,"revoked_at":null}',
    ],
    [
      "a key whose name contains an escape sequence",
      `{"id":"a","hash":"${"0".repeat(64)}","name":"\\u001b[31m","plan":"free","created_at":"2026-01-01T00:00:00Z","issued_to":null,"last_used_at":null,"revoked_at":null}`,
    ],
    [
      "a key whose name is no valid Unicode",
      `{"id":"a","hash":"${"0".repeat(64)}","name":"\\ud83d","plan":"free","created_at":"2026-01-01T00:00:00Z","issued_to":null,"last_used_at":null,"revoked_at":null}`,
    ],
  ])("kibitz keys import changes nothing if a line is %s", async (what, wrong) => {
    const env = inSqlite(what);
    await keys(env, "create");
    const { stdout } = await keys(env, "export");
    expect(await importing(inSqlite("empty"), { stdout: `${stdout}${wrong}\n` })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "line 2 is no key as kibitz keys export writes it; nothing was imported",
      ),
    });
    expect(existsSync(join(folder, "empty"))).toBe(false);
  });

  test.each([
    ["SQLite", () => inSqlite("other pepper")],
    ["Redis", () => ({ ...inRedis(), KIBITZ_REDIS_PREFIX: "other-pepper:" })],
  ])(
    "kibitz keys import into %s refuses keys that were made with another pepper, and accepts older files with a note",
    async (where, target) => {
      const pepper = { KIBITZ_KEY_PEPPER: "a pepper of sixteen characters" };
      const source = { ...inSqlite(`peppered for ${where}`), ...pepper };
      await keys(source, "create");
      await keys(source, "create");
      const exported = await keys(source, "export");
      const refusalOf = (made: string) => ({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(new RegExp(`made ${made}.*nothing was imported`)),
      });
      const refusal = refusalOf("with a pepper, and none is set");
      expect(await importing(target(), exported)).toEqual(refusal);
      expect(
        await importing({ ...target(), KIBITZ_KEY_PEPPER: "another of sixteen characters" }, exported),
      ).toEqual(refusalOf("with another pepper"));
      // The second line only: lines of several exports may be in one file.
      const [first, second] = exported.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const mixed = `${JSON.stringify({ ...first, pepper_check: null })}\n${JSON.stringify(second)}\n`;
      expect(await importing(target(), { stdout: mixed })).toEqual(refusal);
      const { pepper_check: _, account: __, expires_at: ___, ...older } = first;
      expect(
        await importing({ ...target(), ...pepper }, { stdout: `${JSON.stringify(older)}\n` }),
      ).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^1 key imported/),
        stderr: expect.stringContaining("does not say which KIBITZ_KEY_PEPPER"),
      });
      expect(await importing({ ...target(), ...pepper }, exported)).toMatchObject({
        code: 0,
        stdout: "1 key imported, 0 revoked, 1 there already, 0 left out\n",
      });
    },
  );

  test("kibitz keys import brings an earlier end of a key, and never a later one", async () => {
    const [from, to] = [inSqlite("early"), inSqlite("late")];
    const { id } = JSON.parse((await keys(from, "create", "--json")).stdout);
    await importing(to, await keys(from, "export"));
    await keys(from, "update", id, "--expires", "2100-01-01");
    expect(await importing(to, await keys(from, "export"))).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`${id} now ends at 2100-01-01T00:00:00.000Z, as in the file`),
    });
    // A key that was revoked here has no other end.
    const revoked = inSqlite("revoked here");
    await importing(revoked, await keys(to, "export"));
    await keys(revoked, "revoke", id);
    await keys(from, "update", id, "--expires", "2099-01-01");
    expect(await importing(revoked, await keys(from, "export"))).toMatchObject({ code: 0, stderr: "" });
    await keys(from, "update", id, "--expires", "2101-01-01");
    await importing(to, await keys(from, "export"));
    expect((await keys(to, "list")).stdout).toContain("valid until 2100-01-01");
  });

  test.each([
    ["with an overlap", ["--overlap", "1d"], "1 key imported, 0 revoked, 1 there already, 0 left out\n"],
    ["at once", [], "1 key imported, 1 revoked, 0 there already, 0 left out\n"],
  ])(
    "kibitz keys import brings that a key was replaced %s, so that it is not replaced again",
    async (how, options, stdout) => {
      const [from, to] = [
        inSqlite(how),
        { ...inRedis(), KIBITZ_REDIS_PREFIX: `replaced-${options.length}:` },
      ];
      const { id } = JSON.parse((await keys(from, "create", "--json")).stdout);
      await importing(to, await keys(from, "export"));
      const next = JSON.parse((await keys(from, "rotate", id, ...options, "--json")).stdout);
      const exported = await keys(from, "export");
      expect(await importing(to, exported)).toMatchObject({ code: 0, stdout });
      expect((await keys(to, "export")).stdout).toBe(exported.stdout);
      expect(await keys(to, "rotate", id)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`was replaced by ${next.id}`),
      });
    },
  );

  test("kibitz keys import keeps the key that replaced a key here, and reports another one in the file", async () => {
    const [from, to] = [inSqlite("replaced there"), inSqlite("replaced here")];
    const { id } = JSON.parse((await keys(from, "create", "--json")).stdout);
    await importing(to, await keys(from, "export"));
    const [there, here] = await Promise.all(
      [from, to].map(async (env) =>
        JSON.parse((await keys(env, "rotate", id, "--overlap", "1d", "--json")).stdout),
      ),
    );
    expect(await importing(to, await keys(from, "export"))).toEqual({
      code: 1,
      stdout: "1 key imported, 0 revoked, 0 there already, 1 left out\n",
      stderr: `kibitz: ${id} was left out: it was replaced by "${here.id}" here, and by "${there.id}" in the file\n`,
    });
    expect((await keys(to, "export")).stdout).toContain(`"replaced_by":"${here.id}"`);
  });

  test("kibitz keys update, rotate --overlap and create --count work with keys in Redis", async () => {
    const redisHere = { ...inRedis(), KIBITZ_REDIS_PREFIX: "changed:" };
    const created = (await keys(redisHere, "create", "--json", "--count", "1000")).stdout.trim().split("\n");
    expect(created).toHaveLength(1000);
    const { id } = JSON.parse(created[0] ?? "");
    expect((await keys(redisHere, "update", id, "--name", "bot", "--expires", "2100-01-01")).stdout).toBe(
      `${id}: name none, now "bot"; expires never, now 2100-01-01 00:00\n`,
    );
    const rotated = JSON.parse((await keys(redisHere, "rotate", id, "--overlap", "1h", "--json")).stdout);
    expect(rotated).toMatchObject({ account: id, name: "bot", expires_at: "2100-01-01T00:00:00.000Z" });
    const list = (await keys(redisHere, "list", "--json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(list).toHaveLength(1001);
    const earlier = Date.parse(list.find((key) => key.id === id).expires_at);
    expect(Math.abs(earlier - Date.now() - 3_600_000)).toBeLessThan(60_000);
    await keys(redisHere, "revoke", id);
    expect(await keys(redisHere, "update", id, "--name", "again")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("was revoked"),
    });
  });

  test("kibitz keys fails if Redis does not respond, and does not use the local database", async () => {
    const nowhere = { KIBITZ_REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
    expect(await keys(nowhere, "list")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/KIBITZ_REDIS_URL: Redis does not answer: .*ECONNREFUSED/),
    });
  });
});
