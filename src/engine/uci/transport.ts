/** By whose doing a process ended. */
export type ProcessEnd = "itself" | "outside";

/** All that a UCI backend must provide: lines in, lines out, and a way to end it. */
export interface UciTransport {
  /** Sends lines at once and together: each write wakes the engine, which costs most of all. Ignored when it is gone. */
  send(...lines: readonly string[]): void;
  /**
   * Hands over each line that the engine prints, never while lines are being sent. For one reader.
   * @returns resolves when the pipe ends. @throws when it breaks, or a line has no end.
   */
  read(receive: (line: string) => void): Promise<void>;
  /** Ends the engine whatever it does, and resolves when it is gone. */
  kill(): Promise<void>;
  /** How the engine ended, when it has; how long that takes after the end of its lines is the system's business. */
  readonly ended: Promise<ProcessEnd>;
  /** Resident memory in bytes, where the system tells. */
  memoryBytes(): number | undefined;
  /** Processor time that the engine has used, in milliseconds, if the system says. */
  processorMs(): number | undefined;
}
