import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "./free-port.ts";

/** The Redis server program: `redis-server`, or the program that `REDIS_SERVER` names, such as the path of a `valkey-server`. */
export const redisServer = process.env.REDIS_SERVER ?? "redis-server";

/** A real `redis-server`, which stores nothing on disk by default. */
export interface RedisProcess {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  /** Suspends the process: the server answers no command, and its connections stay open. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/**
 * Starts a Redis server on a free port, and resolves when it answers.
 * @param folder the folder in which the server may write
 * @param options command line options of the server
 * @param program the program and its first arguments
 */
export async function startRedis(
  folder: string,
  options: readonly string[] = [],
  port?: number,
  [command = redisServer, ...first]: readonly string[] = [],
): Promise<RedisProcess> {
  const chosen = port ?? (await freePort());
  const own = ["--bind", "127.0.0.1", "--port", String(chosen), "--dir", folder, "--save", ""];
  const child = spawn(command, [...first, ...own, ...options], { stdio: ["ignore", "pipe", "inherit"] });
  // Redis is also killed if the test run fails.
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const ended = once(child, "exit").then(() => void process.off("exit", kill));
  const ready = Promise.withResolvers<void>();
  ended.then(() => ready.reject(new Error(`${command} has ended:\n${printed}`)));
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
