interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly strings: readonly string[];
  readonly record: Readonly<Record<string, unknown>>;
  readonly thrown: unknown;
}

/** Only these fields can be logged. There is no field for headers, bodies or credentials. */
const fieldTypes = {
  requestId: "string",
  /** Log collectors use the names `trace_id` and `span_id` to find the trace of a log line. */
  trace_id: "string",
  span_id: "string",
  protocol: "string",
  /** The name of the RPC method, or the HTTP method if the request was rejected before the call. */
  method: "string",
  /** The path of the request without its query. A long path is shortened. */
  request: "string",
  key: "string",
  address: "string",
  ms: "number",
  count: "number",
  /** `ok`, `canceled` or an error code. */
  code: "string",
  /** The plan and the name of the exceeded limit, such as `keyless/minute`. */
  limit: "string",
  /** The number of refused calls without a line, by their codes. */
  codes: "record",
  depth: "number",
  cached: "boolean",
  queueMs: "number",
  engineMs: "number",
  index: "number",
  engine: "string",
  /** How the engine runs: `native` or `wasm`. */
  path: "string",
  kind: "string",
  attempt: "number",
  fen: "string",
  file: "string",
  /** The cause of a failure outside of this service, such as in Redis or in a file. */
  error: "string",
  err: "thrown",
  proxy: "string",
  user: "string",
  holds: "strings",
  lacks: "strings",
  settings: "record",
  url: "string",
  startMs: "number",
  engines: "strings",
  slots: "number",
  access: "string",
  degraded: "strings",
  /** Errors that nothing caught, since the start. */
  unhandled: "number",
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

/** The log of a process, which also has a line for the error that ends the process. */
export interface ProcessLog extends Log {
  fatal(fields: LogFields, message: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
