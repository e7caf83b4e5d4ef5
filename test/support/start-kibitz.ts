import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

/** A `kibitz` command that runs in a process of its own, as users start it. */
export interface KibitzProcess {
  readonly pid: number;
  /** The standard output of the process; empty if it is redirected. */
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
  /** Another checkout to run, by its own Node, as `npm start` does. */
  readonly checkout?: string;
  /** The path of the Node that runs the service, instead of the checkout's own. */
  readonly node?: string;
  /** A command that executes the service, such as `ip netns exec …`. */
  readonly through?: readonly string[];
  /** Redirects standard output: `ignore` discards it, and a number is an open file descriptor. */
  readonly stdout?: "ignore" | number;
}

const here = fileURLToPath(new URL("../..", import.meta.url));

/** The longest time in milliseconds that a stop may take: the service waits 15 s for searches and 5 s for their answers. */
const stopMaxMs = 22_000;

/**
 * Starts `kibitz` in a process of its own.
 * @param env the whole environment of the process: nothing is inherited
 */
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
  // A run that fails leaves nothing behind.
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
