/** The part of a logger that rooms are handed. pino's is one. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** For callers that want no log. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
