interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly strings: readonly string[];
  readonly record: Readonly<Record<string, unknown>>;
  readonly thrown: unknown;
}

/**
 * Everything that a log line may contain besides its message. The types and the log itself refuse any other field: no headers,
 * no bodies, no credentials; of a caller's text only its path, shortened, and positions, after validation.
 */
const fieldTypes = {
  /** Id of the request, as in the answer. */
  requestId: "string",
  /** The request's place in its trace, under the names that log collectors look for. */
  trace_id: "string",
  span_id: "string",
  protocol: "string",
  /** Name of an RPC, or the method of an HTTP request. */
  method: "string",
  /** Path of a request without its query, shortened. */
  request: "string",
  /** Public id of the caller's key. */
  key: "string",
  /** Address of the caller, in the form that `KIBITZ_LOG_ADDRESSES` sets. */
  address: "string",
  ms: "number",
  count: "number",
  /** How a call ended: `ok`, `canceled` or a code of the error catalogue. */
  code: "string",
  /** The plan and the limit that refused the call: `keyless/minute`. */
  limit: "string",
  depth: "number",
  cached: "boolean",
  queueMs: "number",
  engineMs: "number",
  /** Index of an item in a batch. */
  index: "number",
  /** Id of an engine version. */
  engine: "string",
  /** How the engine runs: `native` or `wasm`. */
  path: "string",
  /** Why an engine failed. */
  kind: "string",
  attempt: "number",
  /** A validated position, in normal form. */
  fen: "string",
  file: "string",
  /** Message of a failure outside of the service: of the system, Redis, a file. */
  error: "string",
  /** A failure of the service itself. */
  err: "thrown",
  /** Address of a proxy that is not trusted. */
  proxy: "string",
  /** User of the engines' sandbox, and which protections it has and lacks. */
  user: "string",
  holds: "strings",
  lacks: "strings",
  /** The settings, without secrets. */
  settings: "record",
  url: "string",
  startMs: "number",
  /** Ids of the engine versions, the default one first. */
  engines: "strings",
  /** Searches at a time. */
  slots: "number",
  access: "string",
  /** Parts of the service that do not work as they should. */
  degraded: "strings",
} as const satisfies Readonly<Record<string, keyof FieldTypes>>;

export type LogFields = {
  readonly [Name in keyof typeof fieldTypes]?: FieldTypes[(typeof fieldTypes)[Name]] | undefined;
};

/** The names of {@link LogFields} at run time. */
export const logFields: ReadonlySet<string> = new Set(Object.keys(fieldTypes));

/** The part of a logger that modules get. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** For callers that want no log. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
