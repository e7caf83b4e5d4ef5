import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { useTemporaryFolder } from "../support/temporary-folder.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

const quickest = {
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_NATIVE_ENGINES: "",
  KIBITZ_PORT: "0",
  KIBITZ_ACCESS: "open",
  KIBITZ_DATA_DIR: useTemporaryFolder(),
};

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `kibitz` as its users do, with the engine that starts quickest and no native ones. */
export function startKibitz(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...quickest, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const finished = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]): Finished => ({ code: code as number | null, stdout, stderr }),
  );
  return { child, finished };
}

export function runKibitz(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return startKibitz(args, env).finished;
}
