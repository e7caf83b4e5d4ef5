import type { Readable } from "node:stream";

/** What a command is run in: the process, or what stands for it. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: "SIGINT" | "SIGTERM", listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", listener: (signal: NodeJS.Signals) => void): unknown;
  once(event: "exit", listener: () => void): unknown;
  exit(code: number): unknown;
}

/** Where text goes: a terminal, a pipe or a file. */
export interface Output {
  readonly fd: number;
  readonly isTTY?: boolean;
  /** The width of a terminal. */
  readonly columns?: number;
  write(text: string): unknown;
  once(event: "error", listener: (error: Error) => void): unknown;
}
