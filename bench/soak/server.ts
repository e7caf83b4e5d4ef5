import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { makeDataFolder } from "../data-folder.ts";

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Resolves with its exit code; `undefined` while it runs. */
  readonly exitCode: () => number | null;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** `kibitz serve` in a process of its own, on a free port. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<Server> {
  const child = spawn(process.execPath, ["src/main.ts"], {
    env: {
      PATH: process.env.PATH,
      KIBITZ_PORT: "0",
      KIBITZ_DATA_DIR: makeDataFolder(),
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A run that fails leaves nothing behind.
  const end = () => child.kill("SIGTERM");
  process.on("exit", end);
  child.once("exit", () => process.off("exit", end));
  const lines = createInterface(child.stdout);
  for await (const line of lines) {
    const { url } = JSON.parse(line) as { url?: string };
    if (url !== undefined) {
      // What it logs further on must not fill the pipe.
      child.stdout.resume();
      return {
        url,
        pid: child.pid ?? 0,
        exitCode: () => child.exitCode,
        async stop() {
          child.kill("SIGTERM");
          await once(child, "exit");
          return child.exitCode;
        },
      };
    }
  }
  throw new Error("the server ended before it was ready");
}
