/** A client of one protocol. Requests are plain JSON for every protocol, so that tests can compare the answers. */
export interface Protocol extends AsyncDisposable {
  call(call: Call, request: Plain, headers?: Readonly<Record<string, string>>): Promise<Outcome>;
}

export interface ProtocolKind {
  readonly name: string;
  open(url: string): Protocol;
}

export type Call =
  | "evaluate"
  | "findBestMove"
  | "streamEvaluate"
  | "evaluateBatch"
  | "reviewGame"
  | "listEngines"
  | "getPrice"
  | "probeTablebase"
  | "createKey"
  | "getKey"
  | "revokeKey";

export type Plain = Readonly<Record<string, unknown>>;

export type Outcome = Answered | Refused;

export interface Answered {
  readonly kind: "answer";
  readonly requestId: string | undefined;
  /** Plain JSON without null values, because most protocols omit null values. */
  readonly answer: Plain;
}

export interface Refused {
  readonly kind: "refusal";
  readonly requestId: string | undefined;
  /** An HTTP status, or a gRPC code in lower case. */
  readonly status: number | string;
  readonly refusal: Refusal;
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly nextAction: string;
  readonly requestId: string;
  readonly violations: readonly ReportedViolation[];
  readonly suggestion?: unknown;
}

export interface ReportedViolation {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly allowed?: unknown;
  readonly ply?: unknown;
  readonly token?: unknown;
  readonly offset?: unknown;
  readonly line?: unknown;
  readonly column?: unknown;
}
