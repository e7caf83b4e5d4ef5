import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { EngineFailure } from "../engine.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";

/** What is run, and with which arguments. */
export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Whom it is begun as; as this process itself if undefined. */
  readonly become?: UserIds | undefined;
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

// A line of UCI has at most some thousand characters; an engine that prints more is broken.
const lineMaxChars = 65_536;

/**
 * Starts a process that speaks UCI over its pipes. A file that cannot be run shows as lines that fail at once.
 * @throws EngineFailure of the kind `no_start` where there is no memory for it.
 */
export function createChildProcess(command: EngineCommand): UciTransport {
  const child = spawnEngine(command);
  let failure: Error | undefined;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once("exit", (_code, signal) => {
      // What a script leaves behind would keep the pipes. Now and not later: as long as something of the group lives
      // its number is not given anew, and afterwards somebody else may have it.
      if (killGroup(child)) {
        // Its input ended with the script: an answer now would be one that was broken off.
        child.stdout?.destroy();
      }
      resolve(signal && !faultSignals.has(signal) ? "outside" : "itself");
    });
    child.on("error", (error) => {
      failure ??= error;
      resolve("itself");
    });
  });
  // A write to an engine that is gone: the end of its lines tells.
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

/** Signals that a process brings upon itself. Every other one was sent by somebody. */
const faultSignals: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
  "SIGSYS",
  "SIGTRAP",
]);

/** Without file descriptors left, Node gives a process without pipes, and tells the error later. */
type EngineProcess = ChildProcess & {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
};

function spawnEngine({ file, args, become }: EngineCommand): EngineProcess {
  try {
    return spawn(file, args, {
      // Nothing of the server's environment is an engine's business.
      env: {},
      // A process group of its own: Ctrl-C on the terminal is for the server, which then ends its engines.
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
      ...(become && { uid: become.uid, gid: become.gid }),
    });
  } catch (cause) {
    throw new EngineFailure("no_start", `${file} cannot be started: ${cause}`, { cause });
  }
}

function isRunning({ exitCode, signalCode }: EngineProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** The engine with all that it has started: it may be a script around the real one. Returns whether there was any. */
function killGroup(child: EngineProcess): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nothing of it is left, or there are no process groups here (Windows).
    return child.kill("SIGKILL");
  }
}

// By events: an iteration over the stream costs as much as all else that is done with a shallow search.
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
      // Thrown on, it would end the process and not this engine.
      stdout.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  stdout.once("error", over.reject);
  stdout.once("close", over.resolve);
  return over.promise;
}

/** Linux counts processor time in ticks of 10 ms, for programs on every machine. */
const tickMs = 10;

/** User and system time: fields 14 and 15 of proc_pid_stat(5), counted from behind the name, which may have spaces. */
function processorMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * tickMs : undefined;
  } catch {
    return undefined;
  }
}

/** Sums up a measure of a process and its children; undefined if the process itself is gone. */
function sumOfTree(pid: number, measure: (pid: number) => number | undefined): number | undefined {
  const own = measure(pid);
  return own === undefined
    ? undefined
    : processTreeOf(pid)
        .slice(1)
        .reduce((sum, child) => sum + (measure(child) ?? 0), own);
}

/** In pages of 4 KiB, as on every machine that runs these engines. Memory that processes share counts for each of them. */
const pageBytes = 4096;

function residentBytes(pid: number): number | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
    return Number.isFinite(pages) ? pages * pageBytes : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A process and those that it has started, as Linux tells: an engine may be the child of a script around it. Only the
 * process itself where that is not to be learnt.
 */
function processTreeOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(processTreeOf)];
}

/** Of the thread that has the process's own number, which is the one that shells and engines start others from. */
function childrenOf(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
    return children.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
