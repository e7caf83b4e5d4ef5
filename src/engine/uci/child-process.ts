import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { EngineFailure } from "../engine.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";

export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The user that runs the program, if not the user of this process. */
  readonly runAs?: UserIds | undefined;
}

interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** A line of UCI has some thousand characters at most; an engine that prints more is broken. */
const lineMaxChars = 65_536;

/** If the file cannot be run, `read` rejects. Throws `no_start` if the system has no memory for the process. */
export function createChildProcess(command: EngineCommand): UciTransport {
  const child = spawnEngine(command);
  let failure: Error | undefined;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once("exit", (_code, signal) => {
      // Kill the children of a script, which keep its pipes open, at once: while one lives, no other process gets the group's id.
      if (killGroup(child)) {
        // The input of the children ended with the script, so the rest of their output is incomplete.
        child.stdout?.destroy();
      }
      resolve(signal && !crashSignals.has(signal) ? "outside" : "itself");
    });
    child.on("error", (error) => {
      failure ??= error;
      resolve("itself");
    });
  });
  // Ignore failed writes to an engine that is gone, because the end of its output reports that.
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

/** A crash causes these signals; every other signal comes from outside. */
const crashSignals: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
  "SIGSYS",
  "SIGTRAP",
]);

/** If no file descriptors are left, Node returns a process without pipes, and emits the error later. */
type EngineProcess = ChildProcess & {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
};

function spawnEngine({ file, args, runAs }: EngineCommand): EngineProcess {
  try {
    return spawn(file, args, {
      // An engine must not see the environment of the server, which may have secrets.
      env: {},
      // Run in its own process group, so that Ctrl-C on the terminal reaches only the server, which then ends its engines.
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

/** Kills the whole group, because the engine may be a script that starts the real one. Returns false if there was no process. */
function killGroup(child: EngineProcess): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is gone, or the system has no process groups (Windows).
    return child.kill("SIGKILL");
  }
}

/** Reads the lines of a stream by events, because async iteration would double the cost of a shallow search. */
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
      // If this handler threw, the error would end this process instead of the engine.
      stdout.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  stdout.once("error", over.reject);
  stdout.once("close", over.resolve);
  return over.promise;
}

/** Linux counts processor time in ticks of 10 ms on every machine. */
const tickMs = 10;

/** User and system time: fields 14 and 15 of proc_pid_stat(5), counted from the end of the name, which may contain spaces. */
function processorMs(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * tickMs : undefined;
}

/** Memory pages have 4 KiB on every machine that runs these engines. Shared memory counts for each process. */
const pageBytes = 4096;

function residentBytes(pid: number): number | undefined {
  const pages = Number(readProc(pid, "statm").split(" ")[1]);
  return Number.isFinite(pages) ? pages * pageBytes : undefined;
}

/** Includes descendants, because an engine may be the child of a script. Undefined if the process itself is gone. */
function sumOfTree(pid: number, measure: (pid: number) => number | undefined): number | undefined {
  // This lists the children of the main thread, from which shells and engines start processes.
  const children = readProc(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  const own = measure(pid);
  return own === undefined
    ? undefined
    : children.reduce((sum, child) => sum + (sumOfTree(child, measure) ?? 0), own);
}

/** Returns an empty text if the process is gone, or the system has no such file. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
