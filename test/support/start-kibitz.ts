import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

export interface KibitzProcess {
  readonly pid: number;
  /** Empty if the standard output is redirected. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Waits until all output was read. Resolves with the exit code, or null if a signal ended the process. */
  readonly ended: Promise<number | null>;
  isRunning(): boolean;
  /** Sends a signal to the process, and kills the process if it does not stop in time. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface KibitzOptions {
  readonly cwd?: string;
  /** The checkout that contains the server and the Node program to start. The default is this checkout. */
  readonly checkout?: string;
  readonly node?: string;
  /** A command prefix, such as `ip netns exec …`. */
  readonly through?: readonly string[];
  /** Redirects standard output: `ignore` discards it, and a number is an open file descriptor. */
  readonly stdout?: "ignore" | number;
}

const here = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The longest time in which the process must stop, in milliseconds: 15 s for searches, 5 s to send their responses, and 2 s
 * more.
 */
const stopMaxMs = 22_000;

/** Starts a `kibitz` process. @param env the complete environment of the process */
export function startKibitz(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  {
    cwd,
    checkout,
    node = checkout === undefined ? process.execPath : join(checkout, "node_modules/node/bin/node"),
    through = [],
    stdout,
  }: KibitzOptions = {},
): KibitzProcess {
  const folder = checkout ?? here;
  const command = [...through, node, ...flagsOf(folder), join(folder, "bin/kibitz.js"), ...args];
  const child = spawn(command[0] ?? node, command.slice(1), {
    cwd,
    env,
    stdio: ["ignore", stdout, "pipe"],
  });
  // The process is also killed if the test run fails.
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  child.on("exit", () => process.off("exit", kill));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    pid: child.pid ?? 0,
    stdout: child.stdout ?? Readable.from([]),
    stderr: child.stderr as Readable,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      const late = setTimeout(kill, stopMaxMs);
      return ended.finally(() => clearTimeout(late));
    },
  };
}

/** Returns the Node flags of the checkout's `npm start`. */
function flagsOf(checkout: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  return scripts.start.split(" ").filter((word: string) => word.startsWith("--"));
}
