import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { openRedis, type Redis, type RedisTimes } from "../../src/storage/redis/connection.ts";
import { type RedisProcess, startRedis } from "./start-redis.ts";
import { useTemporaryFolder } from "./temporary-folder.ts";

interface RunningRedis extends Pick<RedisProcess, "url" | "port" | "pause" | "resume"> {
  /** Kills the server. All data is lost, as after a crash. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** Starts a Redis server before the tests of a file or group, and stops it after them. */
export function useRedis(options: readonly string[] = []): RunningRedis {
  const folder = useTemporaryFolder();
  let running: RedisProcess | undefined;
  beforeAll(async () => {
    running = await startRedis(folder, options);
  });
  afterAll(async () => {
    running?.resume();
    await running?.stop();
  });
  const now = () => {
    if (running === undefined) {
      throw new Error("Redis runs only while tests do");
    }
    return running;
  };
  return {
    get url() {
      return now().url;
    },
    get port() {
      return now().port;
    },
    pause: () => now().pause(),
    resume: () => now().resume(),
    kill: () => now().stop(),
    async restart() {
      running = await startRedis(folder, options, now().port);
    },
  };
}

/**
 * Returns a function that opens connections to a Redis server with long timeouts. Each connection has a separate key prefix by
 * default. All connections are closed after the tests of the file or group.
 */
export function useConnections(
  redis: Pick<RunningRedis, "url">,
): (prefix?: string, times?: Partial<RedisTimes>) => Promise<Redis> {
  const opened = new DisposableStack();
  afterAll(() => opened.dispose());
  let count = 0;
  return async (prefix = `test-${count++}:`, times = { operationMaxMs: 10_000, connectMaxMs: 10_000 }) =>
    opened.use(await openRedis({ url: redis.url, prefix, times }));
}

export async function until<T>(
  look: () => T | Promise<T>,
  isSo: (seen: T) => boolean = Boolean,
  maxMs = 10_000,
): Promise<T> {
  const end = performance.now() + maxMs;
  for (;;) {
    const seen = await look();
    if (isSo(seen)) {
      return seen;
    }
    if (performance.now() > end) {
      throw new Error(`not so within ${maxMs} ms, but ${JSON.stringify(seen)}`);
    }
    await sleep(5);
  }
}
