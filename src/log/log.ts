interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly strings: readonly string[];
  readonly record: Readonly<Record<string, unknown>>;
  readonly thrown: unknown;
}

/**
 * The only fields of a log line, so that no headers, bodies or credentials are logged. A client's text appears only as a
 * shortened path and as validated positions.
 */
const fieldTypes = {
  requestId: "string",
  /** Ids of the trace and the span, under the names that log collectors expect. */
  trace_id: "string",
  span_id: "string",
  protocol: "string",
  /** Name of an RPC, or the HTTP method of a request. */
  method: "string",
  /** Path of a request without its query, shortened. */
  request: "string",
  /** Public id of the caller's key. */
  key: "string",
  /** The caller's address, in the form that `KIBITZ_LOG_ADDRESSES` sets. */
  address: "string",
  ms: "number",
  count: "number",
  /** Result of a call: `ok`, `canceled` or a code of the error catalog. */
  code: "string",
  /** The plan and the limit that rejected the call, such as `keyless/minute`. */
  limit: "string",
  depth: "number",
  cached: "boolean",
  queueMs: "number",
  engineMs: "number",
  /** Index of an item in a batch. */
  index: "number",
  /** Id of an engine version. */
  engine: "string",
  /** The way in which the engine runs: `native` or `wasm`. */
  path: "string",
  /** Kind of failure of an engine. */
  kind: "string",
  attempt: "number",
  fen: "string",
  file: "string",
  /** A failure outside of the service, such as in the operating system, in Redis or in a file. */
  error: "string",
  /** An error of the service itself. */
  err: "thrown",
  /** Address of a proxy that is not trusted. */
  proxy: "string",
  /** User of the engines' sandbox, and the protections that it has and lacks. */
  user: "string",
  holds: "strings",
  lacks: "strings",
  /** The settings without secrets. */
  settings: "record",
  url: "string",
  startMs: "number",
  /** Ids of the engine versions, default first. */
  engines: "strings",
  /** The number of searches that can run at a time. */
  slots: "number",
  access: "string",
  /** The parts of the service that do not work. */
  degraded: "strings",
} as const satisfies Readonly<Record<string, keyof FieldTypes>>;

export type LogFields = {
  readonly [Name in keyof typeof fieldTypes]?: FieldTypes[(typeof fieldTypes)[Name]] | undefined;
};

export const logFields: ReadonlySet<string> = new Set(Object.keys(fieldTypes));

export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
