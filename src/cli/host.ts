import { fstatSync, writeSync } from "node:fs";
import type { Readable } from "node:stream";

/** The signals that end a command: from the keyboard, from whoever runs it, and from a terminal that closes. */
export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type StopSignal = (typeof stopSignals)[number];

/** What a command is run in: the process, or what stands for it. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown;
  once(event: "exit", listener: () => void): unknown;
  exit(code: number): unknown;
}

/** Where text goes: a terminal, a pipe or a file. */
export interface Output {
  readonly fd: number;
  readonly isTTY?: boolean;
  /** The width of a terminal. */
  readonly columns?: number;
  /** Answers `false` if its reader is behind: `drain` tells when it has read. */
  write(text: string): unknown;
  once(event: "error" | "drain", listener: (error: Error) => void): unknown;
}

/** This process. */
export function hostOfProcess(): Host {
  // What cannot be told there is lost. It would end the process before its work is done, and with another exit code.
  process.stderr.on("error", () => {});
  return {
    env: process.env,
    // Not before it is needed: Node begins to read it then.
    get stdin() {
      return process.stdin;
    },
    stdout: isPipeOrTerminal(process.stdout.fd) ? process.stdout : fileOutput(process.stdout.fd),
    stderr: process.stderr,
    on: process.on.bind(process),
    off: process.off.bind(process),
    once: process.once.bind(process),
    exit: process.exit.bind(process),
  };
}

function isPipeOrTerminal(fd: number): boolean {
  const stats = fstatSync(fd);
  return process.stdout.isTTY || stats.isFIFO() || stats.isSocket();
}

/**
 * A file, written whole. Node's own stream asks the system once, and takes for written what did not fit on a full disk.
 */
export function fileOutput(fd: number): Output {
  const listeners: ((error: Error) => void)[] = [];
  return {
    fd,
    write(text) {
      let rest = Buffer.from(text);
      try {
        while (rest.length > 0) {
          rest = rest.subarray(writeSync(fd, rest));
        }
      } catch (error) {
        for (const tell of listeners.splice(0)) {
          tell(error as Error);
        }
      }
    },
    // It never waits for a reader, so nobody asks it for `drain`.
    once: (_event, listener) => listeners.push(listener),
  };
}
