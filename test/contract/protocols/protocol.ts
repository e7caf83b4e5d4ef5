/** A way into the service as one client sees it. All protocols are asked the same, and what they say can be compared. */
export interface Protocol extends AsyncDisposable {
  /** @param request as plain JSON: the protocol puts it into its own words. */
  call(call: Call, request: Plain, headers?: Readonly<Record<string, string>>): Promise<Outcome>;
}

/** The export of each file in `clients/`. */
export interface ProtocolKind {
  readonly name: string;
  open(url: string): Protocol;
}

/** The calls of the API by their names in generated code. */
export type Call =
  | "evaluate"
  | "findBestMove"
  | "streamEvaluate"
  | "evaluateBatch"
  | "reviewGame"
  | "listEngines"
  | "getPrice"
  | "createKey"
  | "getKey"
  | "revokeKey";

export type Plain = Readonly<Record<string, unknown>>;

export type Outcome = Answered | Refused;

export interface Answered {
  readonly kind: "answer";
  /** The header X-Request-Id. */
  readonly requestId: string | undefined;
  /** The answer as plain JSON, without null values: most protocols leave them out. */
  readonly answer: Plain;
}

export interface Refused {
  readonly kind: "refusal";
  /** The header X-Request-Id. */
  readonly requestId: string | undefined;
  /** The status of the error in the protocol: an HTTP status, or a gRPC code in lower case. */
  readonly status: number | string;
  readonly refusal: Refusal;
}

/** The parts of an error that every protocol has. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly nextAction: string;
  readonly requestId: string;
  readonly violations: readonly ToldViolation[];
  /** The suggested request of the problem document. */
  readonly suggestion?: unknown;
}

export interface ToldViolation {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  /** A field of the problem document, like all below. */
  readonly allowed?: unknown;
  readonly ply?: unknown;
  readonly token?: unknown;
  readonly offset?: unknown;
  readonly line?: unknown;
  readonly column?: unknown;
}
