import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { EngineFailure } from "../engine.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";

export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment. Undefined for an empty environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly runAs?: UserIds | undefined;
}

interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** A valid UCI line has at most a few thousand characters. */
const lineMaxChars = 65_536;

/** Throws `no_start` if the system cannot create a process. If the file cannot be executed, `read` rejects. */
export function createChildProcess(command: EngineCommand): UciTransport {
  const child = spawnEngine(command);
  let failure: Error | undefined;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once("exit", (_code, signal) => {
      // Kill the child processes of a script, because they keep the pipes open.
      if (killGroup(child)) {
        // Ignore the remaining output of the child processes, because this output is incomplete.
        child.stdout?.destroy();
      }
      resolve(signal && !crashSignals.has(signal) ? "outside" : "itself");
    });
    child.on("error", (error) => {
      failure ??= error;
      resolve("itself");
    });
  });
  // Ignore the error, because the end of the output is also reported.
  child.stdin?.on("error", () => {});

  return {
    send: (...lines) => void child.stdin?.write(`${lines.join("\n")}\n`),
    async read(receive) {
      await (child.stdout ? readLines(child.stdout, receive) : ended);
      if (failure) {
        throw failure;
      }
    },
    async kill() {
      if (isRunning(child)) {
        killGroup(child);
      }
      await ended;
    },
    ended,
    memoryBytes: () => (child.pid === undefined ? undefined : sumOfTree(child.pid, residentBytes)),
    processorMs: () => (child.pid === undefined ? undefined : sumOfTree(child.pid, processorMs)),
  };
}

/** Signals that mean a crash. Any other signal was sent by another process or the kernel. */
const crashSignals: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
  "SIGSYS",
  "SIGTRAP",
]);

/** If no file descriptors are available, Node returns a process without pipes, and emits the error later. */
type EngineProcess = ChildProcess & {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
};

function spawnEngine({ file, args, env = {}, runAs }: EngineCommand): EngineProcess {
  try {
    return spawn(file, args, {
      // Hide the server's environment, which may contain secrets.
      env,
      // Use a separate process group, so that Ctrl-C on the terminal reaches only the server.
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
      ...(runAs && { uid: runAs.uid, gid: runAs.gid }),
    });
  } catch (cause) {
    throw new EngineFailure("no_start", `${file} cannot be started: ${cause}`, { cause });
  }
}

function isRunning({ exitCode, signalCode }: EngineProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** Kills the process group, because the engine may be the child of a script. Returns false if no process was killed. */
function killGroup(child: EngineProcess): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  } catch {
    // The process group has ended, or the system has no process groups (Windows).
    return child.kill("SIGKILL");
  }
}

/** Uses events, because async iteration would double the cost of a shallow search. */
function readLines(stdout: Readable, receive: (line: string) => void): Promise<void> {
  const over = Promise.withResolvers<void>();
  let rest = "";
  stdout.setEncoding("latin1");
  stdout.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > lineMaxChars) {
      stdout.destroy(new Error(`the engine printed a line of more than ${lineMaxChars} characters`));
      return;
    }
    try {
      lines.forEach(receive);
    } catch (error) {
      // Catch the error, because an error in an event handler would end this process.
      stdout.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  stdout.once("error", over.reject);
  stdout.once("close", over.resolve);
  return over.promise;
}

/** Linux reports processor time in units of 10 ms. */
const tickMs = 10;

/** Adds user time and system time: fields 14 and 15 of /proc/PID/stat. The process name may contain spaces. */
function processorMs(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * tickMs : undefined;
}

/** The page size of all machines that run these engines. */
const pageBytes = 4096;

function residentBytes(pid: number): number | undefined {
  const pages = Number(readProc(pid, "statm").split(" ")[1]);
  return Number.isFinite(pages) ? pages * pageBytes : undefined;
}

/** Includes child processes, because the engine may be the child of a script. Returns undefined if the process has ended. */
function sumOfTree(pid: number, measure: (pid: number) => number | undefined): number | undefined {
  // Read only the child processes of the main thread: shells and engines start no processes from other threads.
  const children = readProc(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  const own = measure(pid);
  return own === undefined
    ? undefined
    : children.reduce((sum, child) => sum + (sumOfTree(child, measure) ?? 0), own);
}

/** Returns an empty text if the process has ended, or if the system has no /proc. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
