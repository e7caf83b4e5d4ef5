import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";

/** The service that a command calls: in this process, or running elsewhere. Disposing of it ends the calls in flight. */
export interface Target extends AsyncDisposable {
  /** For Connect's clients. Calls reject with KibitzErrors, with an `UnreachableError`, or with the reason of their signal. */
  readonly transport: Transport;
  /** Host and port of a running service; undefined for this process. */
  readonly host: string | undefined;
  /**
   * Reads a request that is plain JSON. Rejects with a KibitzError if the service would refuse it, as far as that is known without
   * engines and plans.
   */
  read(sent: Readonly<Record<string, unknown>>): Promise<AnalysisRequest>;
  /** Rejects if the call would be refused before it is counted, and if only a running service knows that. */
  preflight(message: Message, method: DescMethod): Promise<unknown>;
}

/** Options for this process as the target. A running service decides by itself. */
export interface TargetOptions {
  /** True if answers are stored. Otherwise only stored answers are used. */
  readonly stores?: boolean;
  /** Settings that override those of the environment. */
  readonly settings?: Readonly<Record<string, string>>;
}
