import { beforeAll, expect, test } from "vitest";
import { OutcomeUnknown, StoreUnavailable } from "../../../src/storage/ports.ts";
import type { Redis } from "../../../src/storage/redis/connection.ts";
import { createRedisKeyStore } from "../../../src/storage/redis/key-store.ts";
import { keyRecord, testKeyStore } from "../../contract/access-stores.ts";
import { testKeyRules } from "../../contract/key-rules.ts";
import { describeWith } from "../../support/needs.ts";
import { useConnections, useRedis } from "../../support/redis.ts";

/** Long timeouts, so that a busy machine is not mistaken for a Redis that does not respond. */
const patient = { operationMaxMs: 10_000, connectMaxMs: 10_000 };

describeWith("redis")("in a Redis", () => {
  const server = useRedis();
  const connect = useConnections(server);
  let connection: Redis | undefined;
  let parts = 0;

  beforeAll(async () => {
    connection = await connect(undefined, patient);
  });

  /** Returns the connection with a new key prefix, so that each test begins without keys. */
  function part(): Redis {
    const redis = connection as Redis;
    const name = `part-${parts++}:`;
    const within = (keys: readonly string[]) => keys.map((key) => name + key);
    return {
      ...redis,
      changes: redis.changes,
      get health() {
        return redis.health;
      },
      ask: (command, keys, ...rest) => redis.ask(command, within(keys), ...rest),
      run: (script, keys, ...rest) => redis.run(script, within(keys), ...rest),
    };
  }

  testKeyStore("Redis", () => createRedisKeyStore(part()));
  testKeyRules("Redis", () => createRedisKeyStore(part()));

  test("an API key that one node writes to Redis can be read by another node", async () => {
    const [one, other] = [await connect("two:", patient), await connect("two:", patient)].map(
      createRedisKeyStore,
    );
    await one?.create(keyRecord({ id: "a" }));
    expect(await other?.findById("a")).toMatchObject({ id: "a", revokedAt: undefined });
    await one?.revoke("a", 5);
    expect(await other?.findByHash("hash of a")).toMatchObject({ revokedAt: 5 });
  });

  test("if a write to Redis fails, its outcome is reported as unknown only if the command was sent", async () => {
    const redis = await connect(undefined, { operationMaxMs: 200, connectMaxMs: 10_000 });
    const keys = createRedisKeyStore(redis);
    await keys.create(keyRecord({ id: "a" }));
    server.pause();
    await expect(keys.revoke("a", 5)).rejects.toThrow(OutcomeUnknown);
    const unsent = await keys.create(keyRecord({ id: "b" })).catch((error: unknown) => error);
    server.resume();
    expect(unsent).toBeInstanceOf(StoreUnavailable);
    expect(unsent).not.toBeInstanceOf(OutcomeUnknown);
  });
});
