/**
 * All that a log line may say beside its message: what is not listed here cannot be logged, neither by the types nor
 * by the log itself. No headers, no bodies, no credentials; of callers' text only positions, after they were judged.
 */
export interface LogFields {
  /** Id of the request, as in the answer. */
  readonly requestId?: string | undefined;
  /** Place in the trace of the caller, by the names that collectors look for. */
  readonly trace_id?: string | undefined;
  readonly span_id?: string | undefined;
  readonly protocol?: string | undefined;
  /** Name of an RPC, or the method of an HTTP request. */
  readonly method?: string | undefined;
  /** Path of a request, without its query, shortened. */
  readonly request?: string | undefined;
  /** Public id of the caller's key. */
  readonly key?: string | undefined;
  /** Of the caller, as `KIBITZ_LOG_ADDRESSES` says. */
  readonly address?: string | undefined;
  readonly ms?: number | undefined;
  /** How many of what the message says. */
  readonly count?: number | undefined;
  /** How a call ended: `ok`, `canceled` or a code of the catalogue. */
  readonly code?: string | undefined;
  /** Which limit of which plan it was refused by. */
  readonly limit?: string | undefined;
  /** Of an answer: the depth that was reached, whether it was kept from before, and what it had to wait and to search. */
  readonly depth?: number | undefined;
  readonly cached?: boolean | undefined;
  readonly queueMs?: number | undefined;
  readonly engineMs?: number | undefined;
  /** Which item of a batch. */
  readonly index?: number | undefined;
  /** Id of an engine version, and how it runs. */
  readonly engine?: string | undefined;
  readonly path?: string | undefined;
  /** Why an engine failed. */
  readonly kind?: string | undefined;
  readonly attempt?: number | undefined;
  /** A position that was judged, in normal form. */
  readonly fen?: string | undefined;
  /** A file that the operator named, or that was found on this machine. */
  readonly file?: string | undefined;
  /** What the system said of it. */
  readonly error?: string | undefined;
  /** A failure of the service itself. */
  readonly err?: unknown;
  /** Of a proxy that is not trusted. */
  readonly proxy?: string | undefined;
  /** Of the engines' sandbox. */
  readonly user?: string | undefined;
  readonly holds?: readonly string[] | undefined;
  readonly lacks?: readonly string[] | undefined;
  /** Without secrets. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly url?: string | undefined;
  readonly startMs?: number | undefined;
  /** Ids of the engines that are there, the default one first; searches at a time; who may ask; what is degraded. */
  readonly engines?: readonly string[] | undefined;
  readonly slots?: number | undefined;
  readonly access?: string | undefined;
  readonly degraded?: readonly string[] | undefined;
}

/** The names of {@link LogFields}, for what types do not see. */
export const logFields: ReadonlySet<string> = new Set(
  Object.keys({
    requestId: 0,
    trace_id: 0,
    span_id: 0,
    protocol: 0,
    method: 0,
    request: 0,
    key: 0,
    address: 0,
    ms: 0,
    count: 0,
    code: 0,
    limit: 0,
    depth: 0,
    cached: 0,
    queueMs: 0,
    engineMs: 0,
    index: 0,
    engine: 0,
    path: 0,
    kind: 0,
    attempt: 0,
    fen: 0,
    file: 0,
    error: 0,
    err: 0,
    proxy: 0,
    user: 0,
    holds: 0,
    lacks: 0,
    settings: 0,
    url: 0,
    startMs: 0,
    engines: 0,
    slots: 0,
    access: 0,
    degraded: 0,
  } satisfies Record<keyof LogFields, 0>),
);

/** The part of a logger that rooms are handed. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** For callers that want no log. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
