import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "./free-port.ts";

/** Whose protocol is spoken: `redis-server`, or what `REDIS_SERVER` names in its place, such as the path of a `valkey-server`. */
export const redisServer = process.env.REDIS_SERVER ?? "redis-server";

/** A real `redis-server`, which keeps nothing on disk unless told. */
export interface RedisProcess {
  readonly port: number;
  /** `redis://127.0.0.1:4711` */
  readonly url: string;
  readonly pid: number;
  /** Stops it where it stands: it answers nobody, and its connections stay. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/**
 * Starts one on a free port and resolves when it answers.
 *
 * @param folder where it may write
 * @param options as on its command line
 */
export async function startRedis(
  folder: string,
  options: readonly string[] = [],
  port?: number,
): Promise<RedisProcess> {
  const chosen = port ?? (await freePort());
  const own = ["--bind", "127.0.0.1", "--port", String(chosen), "--dir", folder, "--save", ""];
  const child = spawn(redisServer, [...own, ...options], { stdio: ["ignore", "pipe", "inherit"] });
  // A run that fails leaves nothing behind.
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const ended = once(child, "exit").then(() => void process.off("exit", kill));
  const ready = Promise.withResolvers<void>();
  ended.then(() => ready.reject(new Error(`${redisServer} has ended:\n${printed}`)));
  let printed = "";
  child.stdout.on("data", (text) => {
    printed += text;
    if (printed.includes("Ready to accept connections")) {
      ready.resolve();
    }
  });
  await ready.promise;
  return {
    port: chosen,
    url: `redis://127.0.0.1:${chosen}`,
    pid: child.pid ?? 0,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async stop() {
      kill();
      await ended;
    },
  };
}
