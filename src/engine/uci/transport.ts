/** The cause of a process's end: the process itself, or a signal from outside. */
export type ProcessEnd = "itself" | "outside";

/** A connection to an engine: lines in, lines out, and a way to kill it. */
export interface UciTransport {
  /** Sends lines in one write, because each write wakes the engine. Does nothing if the engine is gone. */
  send(...lines: readonly string[]): void;
  /**
   * Calls `receive` with each line that the engine prints, never during `send`. Call this once.
   * @returns resolves when the pipe ends. @throws if the pipe breaks or a line is too long.
   */
  read(receive: (line: string) => void): Promise<void>;
  /** Kills the engine, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when the process has ended, which may be some time after the end of its pipe. */
  readonly ended: Promise<ProcessEnd>;
  /** Resident memory in bytes, if the system reports it. */
  memoryBytes(): number | undefined;
  /** Processor time that the engine has used, in milliseconds, if the system reports it. */
  processorMs(): number | undefined;
}
