/** By whose doing a process ended. */
export type ProcessEnd = "itself" | "outside";

/** All that a UCI backend must provide: lines in, lines out, and a way to end it. */
export interface UciTransport {
  /** Sends one line. Ignored when the engine is gone: `lines` then tells. */
  send(line: string): void;
  /** What the engine prints, for one reader. Ends when the pipe ends. */
  readonly lines: AsyncIterable<string>;
  /** Ends the engine whatever it does, and resolves when it is gone. */
  kill(): Promise<void>;
  /** How the engine ended, when it has; how long that takes after the end of `lines` is the system's business. */
  readonly ended: Promise<ProcessEnd>;
  /** Resident memory in bytes, where the system tells. */
  memoryBytes(): number | undefined;
  /** Whether somebody outside has suspended the engine (SIGSTOP), where that can be told. */
  suspended(): boolean;
}
