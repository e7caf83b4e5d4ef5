import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { createLimits, type Limits } from "../../../src/access/limits.ts";
import { createMemoryLimitStore } from "../../../src/storage/memory/limit-store.ts";
import type { Redis } from "../../../src/storage/redis/connection.ts";
import { createRedisKeyStore } from "../../../src/storage/redis/key-store.ts";
import { createRedisLimitStore } from "../../../src/storage/redis/limit-store.ts";
import { testKeyStore } from "../../contract/access-stores.ts";
import { testLimits, testWindows } from "../../contract/limits.ts";
import { useConnections } from "../../support/redis.ts";
import { type RedisProcess, startRedis } from "../../support/start-redis.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

/** The simulated Redis must keep the contracts that the real Redis keeps: otherwise, simulations prove nothing. */
const program = [
  process.execPath,
  fileURLToPath(new URL("../../simulation/redis-server.ts", import.meta.url)),
] as const;

const folder = useTemporaryFolder();
let server: RedisProcess | undefined;
beforeAll(async () => {
  server = await startRedis(folder, [], undefined, program);
});
afterAll(() => server?.stop());

const connect = useConnections({
  get url() {
    return server?.url ?? "";
  },
});
const opened = new AsyncDisposableStack();
afterAll(() => opened.disposeAsync());

/** Before each request, Redis has processed all earlier commands. */
async function openLimits(): Promise<Limits> {
  const redis = await connect();
  const store = opened.use(createRedisLimitStore(redis));
  const limits = createLimits(createMemoryLimitStore(), { store, nodes: () => 1 });
  return {
    ...limits,
    async enter(...args) {
      await redis.ask("PING", []);
      return limits.enter(...args);
    },
  };
}

testLimits("the simulated Redis", openLimits);
testWindows("the simulated Redis", openLimits);

const parts: Redis[] = [];
beforeAll(async () => {
  // A key store is opened without waiting, so connect before the tests.
  for (let part = 0; part < 60; part++) {
    parts.push(await connect());
  }
});
testKeyStore("the simulated Redis", () => createRedisKeyStore(parts.pop() as Redis));
