import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";

/** The service that a command uses, in this process or elsewhere. Disposal aborts all calls that have not ended. */
export interface Target extends AsyncDisposable {
  /** A call rejects with a KibitzError, with an UnreachableError, or with the reason of its signal. */
  readonly transport: Transport;
  /** The host and port of the service. Undefined if the service runs in this process. */
  readonly host: string | undefined;
  /** Validates a request without an engine, as far as this is possible. Throws KibitzError if the request is invalid. */
  read(sent: Readonly<Record<string, unknown>>): Promise<AnalysisRequest>;
  /** Throws KibitzError if the service would reject the call. Always throws if the service runs elsewhere. */
  preflight(message: Message, method: DescMethod): Promise<unknown>;
}

/** Options for a service in this process. A service elsewhere ignores these options. */
export interface TargetOptions {
  /** If true, new search results are stored. If false, search results that are already stored are still used. */
  readonly stores?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}
