import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { EngineFailure } from "../engine.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";

/** A program to run. */
export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The user to start it as; the user of this process if undefined. */
  readonly runAs?: UserIds | undefined;
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** A line of UCI has at most some thousand characters; an engine that prints more is broken. */
const lineMaxChars = 65_536;

/**
 * Starts a process that speaks UCI over its pipes. If the file cannot be run, `read` rejects.
 * @throws EngineFailure of the kind `no_start` if the system has no memory for the process.
 */
export function createChildProcess(command: EngineCommand): UciTransport {
  const child = spawnEngine(command);
  let failure: Error | undefined;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once("exit", (_code, signal) => {
      // If the engine is a script, its children would keep the pipes open. Kill them at once: while one of them
      // lives, the system does not give the number of their group to another process.
      if (killGroup(child)) {
        // Their input ended with the script, so the rest of their output is incomplete.
        child.stdout?.destroy();
      }
      resolve(signal && !faultSignals.has(signal) ? "outside" : "itself");
    });
    child.on("error", (error) => {
      failure ??= error;
      resolve("itself");
    });
  });
  // A write to an engine that is gone fails; the end of its output reports that it is gone.
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

/** Signals that report a crash. Every other signal came from outside. */
const faultSignals: ReadonlySet<NodeJS.Signals> = new Set([
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
      // A process group of its own: Ctrl-C on the terminal reaches the server alone, which then ends its engines.
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

/** Kills the engine and its children, because it may be a script around the real engine. Returns false if there was none. */
function killGroup(child: EngineProcess): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is gone, or there are no process groups here (Windows).
    return child.kill("SIGKILL");
  }
}

/** Reads lines by events, because async iteration would double the cost of a shallow search. */
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
      // Thrown from here, the error would end this process instead of this engine.
      stdout.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  stdout.once("error", over.reject);
  stdout.once("close", over.resolve);
  return over.promise;
}

/** Linux counts processor time in ticks of 10 ms on every machine. */
const tickMs = 10;

/** User and system time: fields 14 and 15 of proc_pid_stat(5), counted from after the name, which may have spaces. */
function processorMs(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * tickMs : undefined;
}

/** Pages have 4 KiB on every machine that runs these engines. Memory that processes share counts for each of them. */
const pageBytes = 4096;

function residentBytes(pid: number): number | undefined {
  const pages = Number(readProc(pid, "statm").split(" ")[1]);
  return Number.isFinite(pages) ? pages * pageBytes : undefined;
}

/**
 * Sums up a measure of a process and its descendants, because an engine may be the child of a script. Undefined if the process
 * itself is gone.
 */
function sumOfTree(pid: number, measure: (pid: number) => number | undefined): number | undefined {
  // The children of the main thread, from which shells and engines start processes.
  const children = readProc(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  const own = measure(pid);
  return own === undefined
    ? undefined
    : children.reduce((sum, child) => sum + (sumOfTree(child, measure) ?? 0), own);
}

/** Empty if the process is gone, or the system has no such file. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
