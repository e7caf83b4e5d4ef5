/** The cause of the end of a process: the process itself, or a signal from outside. */
export type ProcessEnd = "itself" | "outside";

/** A connection to an engine: it sends and receives lines, and can kill the engine. */
export interface UciTransport {
  /** Sends lines in one write, because each write wakes the engine. Does nothing if the engine is gone. */
  send(...lines: readonly string[]): void;
  /**
   * Calls `receive` with each line that the engine prints, but never during `send`. Resolves when the pipe ends. Call this once.
   *
   * @throws if the pipe breaks or a line is too long
   */
  read(receive: (line: string) => void): Promise<void>;
  /** Kills the engine, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when the process has ended, which may be some time after the end of its pipe. */
  readonly ended: Promise<ProcessEnd>;
  /** Returns the resident memory of the engine in bytes, if the system reports it. */
  memoryBytes(): number | undefined;
  /** Returns the processor time that the engine has used, in milliseconds, if the system reports it. */
  processorMs(): number | undefined;
}
