/** The cause of the end of a process: the process itself, or a signal from outside. */
export type ProcessEnd = "itself" | "outside";

export interface UciTransport {
  /** Sends lines in one write, because each write wakes the engine. Does nothing if the engine is gone. */
  send(...lines: readonly string[]): void;
  /** Calls `receive` with each line, but never during `send`, until the pipe ends. Call this once. Throws if the pipe breaks. */
  read(receive: (line: string) => void): Promise<void>;
  /** Resolves when the engine is gone. */
  kill(): Promise<void>;
  /** Resolves when the process has ended, which may be some time after the end of its pipe. */
  readonly ended: Promise<ProcessEnd>;
  /** Returns the resident memory of the engine, if the system reports it. */
  memoryBytes(): number | undefined;
  /** Returns the processor time that the engine has used, if the system reports it. */
  processorMs(): number | undefined;
}
