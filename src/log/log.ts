interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly strings: readonly string[];
  readonly record: Readonly<Record<string, unknown>>;
  readonly thrown: unknown;
}

/**
 * The only fields that a log line may have besides its message. The types and the log itself reject all others, so that no
 * headers, bodies or credentials are logged. A client's text appears only as a shortened path and as validated positions.
 */
const fieldTypes = {
  /** Id of the request, which its answer also has. */
  requestId: "string",
  /** Ids of the trace and of the span of the request, under the names that log collectors expect. */
  trace_id: "string",
  span_id: "string",
  protocol: "string",
  /** Name of an RPC, or the HTTP method of a request. */
  method: "string",
  /** Path of a request without its query, shortened. */
  request: "string",
  /** Public id of the caller's key. */
  key: "string",
  /** Address of the caller, in the form that `KIBITZ_LOG_ADDRESSES` sets. */
  address: "string",
  ms: "number",
  count: "number",
  /** Result of a call: `ok`, `canceled` or a code of the error catalogue. */
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
  /** A validated position as a normalized FEN. */
  fen: "string",
  file: "string",
  /** Message of a failure outside of the service, such as in the operating system, in Redis or in a file. */
  error: "string",
  /** An error of the service itself. */
  err: "thrown",
  /** Address of a proxy that is not trusted. */
  proxy: "string",
  /** User of the engines' sandbox, and the protections that it has and lacks. */
  user: "string",
  holds: "strings",
  lacks: "strings",
  /** The settings of the service, without secrets. */
  settings: "record",
  url: "string",
  startMs: "number",
  /** Ids of the engine versions, beginning with the default version. */
  engines: "strings",
  /** The number of searches that can run at a time. */
  slots: "number",
  access: "string",
  /** The parts of the service that do not work as they should. */
  degraded: "strings",
} as const satisfies Readonly<Record<string, keyof FieldTypes>>;

export type LogFields = {
  readonly [Name in keyof typeof fieldTypes]?: FieldTypes[(typeof fieldTypes)[Name]] | undefined;
};

/** The names of {@link LogFields} at run time. */
export const logFields: ReadonlySet<string> = new Set(Object.keys(fieldTypes));

/** The methods of a logger that modules use. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** A log that discards everything. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
