/**
 * All that a log line may say beside its message: what is not listed here cannot be logged, neither by the types nor
 * by the log itself. No headers, no bodies, no credentials; of callers' text only positions, after they were judged.
 */
export interface LogFields {
  /** Id of the request, as in the answer. */
  readonly requestId?: string;
  /** Place in the trace of the caller, by the names that collectors look for. */
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly protocol?: string;
  /** Name of an RPC, or the method of an HTTP request. */
  readonly method?: string;
  /** Path of a request, without its query, shortened. */
  readonly request?: string;
  /** Public id of the caller's key. */
  readonly key?: string;
  /** Of the caller, as `KIBITZ_LOG_ADDRESSES` says. */
  readonly address?: string;
  readonly ms?: number;
  /** How many of what the message says. */
  readonly count?: number;
  /** How a call ended: `ok`, `canceled` or a code of the catalogue. */
  readonly code?: string;
  /** Which limit of which plan it was refused by. */
  readonly limit?: string;
  /** Of an answer: the depth that was reached, whether it was kept from before, and what it had to wait and to search. */
  readonly depth?: number;
  readonly cached?: boolean;
  readonly queueMs?: number;
  readonly engineMs?: number;
  /** Which item of a batch. */
  readonly index?: number;
  /** Id of an engine version, and how it runs. */
  readonly engine?: string;
  readonly path?: string;
  /** Why an engine failed. */
  readonly kind?: string;
  readonly attempt?: number;
  /** A position that was judged, in normal form. */
  readonly fen?: string;
  /** A file that the operator named, or that was found on this machine. */
  readonly file?: string;
  /** What the system said of it. */
  readonly error?: string;
  /** A failure of the service itself. */
  readonly err?: unknown;
  /** Of a proxy that is not trusted. */
  readonly proxy?: string;
  /** Of the engines' sandbox. */
  readonly user?: string;
  readonly holds?: readonly string[];
  readonly lacks?: readonly string[];
  /** Without secrets. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly url?: string;
  readonly startMs?: number;
  /** Ids of the engines that are there, the default one first; searches at a time; who may ask; what is degraded. */
  readonly engines?: readonly string[];
  readonly slots?: number;
  readonly access?: string;
  readonly degraded?: readonly string[];
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
