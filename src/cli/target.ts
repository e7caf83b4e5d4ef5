import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";

/** The service that a command calls, in this process or elsewhere. Disposing of it ends the calls in flight. */
export interface Target extends AsyncDisposable {
  /** Calls reject with a KibitzError, with an `UnreachableError`, or with the reason of their signal. */
  readonly transport: Transport;
  /** The host and port of a running service; undefined for this process. */
  readonly host: string | undefined;
  /** @throws KibitzError if the service would reject the request, as far as that is known without engines and plans */
  read(sent: Readonly<Record<string, unknown>>): Promise<AnalysisRequest>;
  /** Checks a call before it is counted. Throws KibitzError if it would be rejected; always throws for a running service. */
  preflight(message: Message, method: DescMethod): Promise<unknown>;
}

/** Options of a service in this process; a running service has its own settings. */
export interface TargetOptions {
  /** True if new answers are stored. If false, stored answers are still used. */
  readonly stores?: boolean;
  /** Settings that override those of the environment. */
  readonly settings?: Readonly<Record<string, string>>;
}
