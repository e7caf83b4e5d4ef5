import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

/** The program is killed when this process exits. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  isRunning(): boolean;
  kill(signal: NodeJS.Signals): void;
}

interface ProgramOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
  /** Called repeatedly until the promise resolves with true. */
  readonly isReady: () => Promise<boolean>;
}

const startMaxMs = 10_000;
const stopMaxMs = 3000;

/** Throws Error with the last lines of output if the program is not ready in ten seconds. */
export async function startProgram(
  file: string,
  args: readonly string[],
  { env = {}, onLine = () => {}, isReady }: ProgramOptions,
): Promise<Program> {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const last: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (line) => {
      last.push(line);
      last.splice(0, last.length - 10);
      onLine(line);
    });
  }
  const ended = endOf(child).finally(() => process.off("exit", kill));
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const lateAt = performance.now() + startMaxMs;
  while (!(await isReady())) {
    if (!isRunning() || performance.now() > lateAt) {
      kill();
      throw new Error(`${file} ${args.join(" ")}: ${await ended}; ${last.join("\n")}`);
    }
    await sleep(20);
  }
  return {
    pid: child.pid ?? 0,
    isRunning,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const late = setTimeout(kill, stopMaxMs);
      await ended;
      clearTimeout(late);
    },
  };
}

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, "exit");
    return `ended with ${code ?? signal}`;
  } catch (error) {
    return String(error);
  }
}
