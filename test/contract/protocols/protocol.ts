/** A client of one protocol. All protocols take the same requests in plain JSON, so their answers can be compared. */
export interface Protocol extends AsyncDisposable {
  /**
   * Makes a call.
   * @param request the request in plain JSON, which the client encodes for its protocol
   */
  call(call: Call, request: Plain, headers?: Readonly<Record<string, string>>): Promise<Outcome>;
}

/** A protocol with its name and a function that opens a client; each file in `clients/` exports one or more. */
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
  /** The header X-Request-Id of the answer. */
  readonly requestId: string | undefined;
  /** The answer as plain JSON, without null values, because most protocols leave them out. */
  readonly answer: Plain;
}

export interface Refused {
  readonly kind: "refusal";
  /** The header X-Request-Id of the error. */
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
  /** The corrected request that the problem document suggests. */
  readonly suggestion?: unknown;
}

export interface ToldViolation {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  /** The allowed values in the problem document. */
  readonly allowed?: unknown;
  readonly ply?: unknown;
  readonly token?: unknown;
  readonly offset?: unknown;
  readonly line?: unknown;
  readonly column?: unknown;
}
