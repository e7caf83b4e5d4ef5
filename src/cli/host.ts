import { fstatSync, writeSync } from "node:fs";
import type { Readable } from "node:stream";

export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export const unhandledEvents = ["uncaughtException", "unhandledRejection"] as const;

type UnhandledEvent = (typeof unhandledEvents)[number];

type StopSignal = (typeof stopSignals)[number];

export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown;
  on(signal: "SIGUSR2", listener: () => void): unknown;
  on(event: UnhandledEvent, listener: (error: unknown) => void): unknown;
  off(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: "SIGUSR2", listener: () => void): unknown;
  off(event: UnhandledEvent, listener: (error: unknown) => void): unknown;
  once(event: "exit", listener: () => void): unknown;
  exit(code: number): unknown;
}

export interface Output {
  readonly fd: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
  once(event: "error" | "drain", listener: (error: Error) => void): unknown;
}

export function hostOfProcess(): Host {
  // Ignore the error, so that the command does not end early with another exit code.
  process.stderr.on("error", () => {});
  return {
    env: process.env,
    // Use a getter, because Node starts to read standard input when the property is read.
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

/** Writes each text completely or reports an error. Node's own stream ignores a partial write to a full disk. */
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
        for (const listener of listeners.splice(0)) {
          listener(error as Error);
        }
      }
    },
    // Ignore `drain`: `write` never returns false, so nothing waits for this event.
    once: (_event, listener) => listeners.push(listener),
  };
}
