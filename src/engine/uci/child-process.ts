import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { UciTransport } from "./transport.ts";

/** What is run, and with which arguments. */
export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
}

// A line of UCI has at most some thousand characters; an engine that prints more is broken.
const lineMaxChars = 65_536;

/** Starts a process that speaks UCI over its pipes. A file that cannot be started shows as lines that end at once. */
export function createChildProcess({ file, args }: EngineCommand): UciTransport {
  const child = spawn(file, args, {
    // Nothing of the server's environment is an engine's business.
    env: {},
    // A process group of its own: Ctrl-C on the terminal is for the server, which then ends its engines.
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  // A write to an engine that is gone: the end of its lines tells.
  child.stdin.on("error", () => {});

  return {
    send(line) {
      // Commands that are sent together travel in one write.
      child.stdin.cork();
      child.stdin.write(`${line}\n`);
      process.nextTick(() => child.stdin.uncork());
    },
    lines: readLines(child.stdout),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    suspended: () => child.pid !== undefined && isSuspended(child.pid),
  };
}

async function* readLines(stdout: NodeJS.ReadableStream): AsyncGenerator<string> {
  stdout.setEncoding("latin1");
  let rest = "";
  for await (const chunk of stdout) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > lineMaxChars) {
      throw new Error(`the engine printed a line of more than ${lineMaxChars} characters`);
    }
    yield* lines;
  }
}

/** Linux tells by the state T in /proc; elsewhere nobody can be told apart from an engine that hangs. */
function isSuspended(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
  } catch {
    return false;
  }
}
