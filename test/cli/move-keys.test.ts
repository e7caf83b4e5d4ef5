import { writeFileSync } from "node:fs";
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
    expect((await keys(inSqlite("empty"), "export")).stdout).toBe("");
  });

  test("kibitz keys fails if Redis does not respond, and does not use the local database", async () => {
    const nowhere = { KIBITZ_REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
    expect(await keys(nowhere, "list")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/KIBITZ_REDIS_URL: Redis does not answer: .*ECONNREFUSED/),
    });
  });
});
