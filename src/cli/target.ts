import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";

/**
 * The service that a command calls. The service runs in this process, or at the address in `--url`. Disposal aborts all running
 * calls.
 */
export interface Target extends AsyncDisposable {
  /** A call rejects with a KibitzError, with an UnreachableError, or with the reason of its signal. */
  readonly transport: Transport;
  /** The host and port of the service. Undefined if the service runs in this process. */
  readonly host: string | undefined;
  /** Validates a request without an engine, as far as this is possible. Throws KibitzError if the request is invalid. */
  read(sent: Readonly<Record<string, unknown>>): Promise<AnalysisRequest>;
  /** Throws KibitzError if the service would reject the call. If the service runs in another process, always throws. */
  preflight(message: Message, method: DescMethod): Promise<unknown>;
}

/** Options for a service in this process. With `--url`, these options are ignored. */
export interface TargetOptions {
  /** True if new search results are stored. If false, the command still reads stored search results. */
  readonly stores?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}
