import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { KibitzError } from "../errors/errors.ts";

/** The service that a command asks: in this process, or running elsewhere. Disposing of it ends the calls that are under way. */
export interface AskedService extends AsyncDisposable {
  /** For Connect's clients. Calls reject with KibitzErrors, with an `UnreachableError`, or with the reason of their signal. */
  readonly transport: Transport;
  /** Host and port of a running service; undefined for this process. */
  readonly host: string | undefined;
  /** Rejects what the service would refuse, as far as that is known without engines and plans. @throws KibitzError */
  check(sent: PlainRequest): void;
  /** Adds to an error the nearest request that would be answered, if there is one. */
  suggest(error: KibitzError, sent: PlainRequest): Promise<KibitzError>;
  /** Rejects if the call would be refused before it is counted, and if only a running service knows that. */
  preflight(message: Message, method: DescMethod): Promise<unknown>;
}

/** A request as plain JSON. */
type PlainRequest = Readonly<Record<string, unknown>>;

export interface AskOptions {
  /** If this process answers: whether it stores its answers. If not, it only uses stored ones. A running service decides by itself. */
  readonly stores?: boolean;
  /** If this process answers: settings that override those of the environment. */
  readonly settings?: Readonly<Record<string, string>>;
}
