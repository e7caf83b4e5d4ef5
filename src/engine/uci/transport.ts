/** `outside` means that another process or the kernel killed the process. */
export type ProcessEnd = "itself" | "outside";

export interface UciTransport {
  /** Sends all lines in one write, because each write wakes the engine. Does nothing if the engine has ended. */
  send(...lines: readonly string[]): void;
  /** Calls `receive` for each line until the pipe ends, but never during `send`. Call this once. Throws if the pipe breaks. */
  read(receive: (line: string) => void): Promise<void>;
  /** Resolves when the engine has ended. */
  kill(): Promise<void>;
  /** Resolves when the process has ended, possibly some time after the end of its pipe. */
  readonly ended: Promise<ProcessEnd>;
  /** The resident memory. Undefined if the operating system does not report the memory. */
  memoryBytes(): number | undefined;
  /** The used processor time. Undefined if the operating system does not report the time. */
  processorMs(): number | undefined;
}
