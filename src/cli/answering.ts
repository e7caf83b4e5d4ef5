import type { Transport } from "@connectrpc/connect";
import type { KibitzError } from "../errors/errors.ts";

/** Who answers a command: the service in this process, or one that runs elsewhere. */
export interface Answering extends AsyncDisposable {
  /** For Connect's clients of the services. Calls reject with the reason of their signal, and with KibitzErrors. */
  readonly transport: Transport;
  /** Refuses what nobody would answer, as far as that is known before anybody is asked. @throws KibitzError */
  check(sent: Readonly<Record<string, unknown>>): void;
  /** The error with the nearest request that would be answered, if there is one. @param sent in plain JSON */
  suggest(error: KibitzError, sent: Readonly<Record<string, unknown>>): Promise<KibitzError>;
}
