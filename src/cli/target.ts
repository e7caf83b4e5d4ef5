import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";

/** The service in this process, or the service at the address in `--url`. Disposal aborts all running calls. */
export interface Target extends AsyncDisposable {
  /** A call rejects with a KibitzError, with an UnreachableError, or with the reason of its signal. */
  readonly transport: Transport;
  /** Undefined if the service runs in this process. */
  readonly host: string | undefined;
  /** Validates a request as far as possible without an engine. Throws KibitzError. */
  read(sent: Readonly<Record<string, unknown>>): Promise<AnalysisRequest>;
  /** Throws KibitzError if the service would reject the call. Always throws if the service runs in another process. */
  validate(message: Message, method: DescMethod): Promise<unknown>;
}

/** Options for a service in this process. */
export interface TargetOptions {
  /** If false, the command reads stored search results, but stores no new results. */
  readonly stores?: boolean;
  /** The longest time in milliseconds that a call waits for endgame tables that are being verified. */
  readonly tablesMaxWaitMs?: number;
  readonly settings?: Readonly<Record<string, string>>;
}
