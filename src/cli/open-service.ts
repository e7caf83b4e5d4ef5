import type { Answering } from "./answering.ts";
import type { CommandInput } from "./command.ts";
import { remoteAddressOf } from "./remote-address.ts";
import { readSendable } from "./request-from-input.ts";

/**
 * As `--url` says. What the one needs, the other does not read: the engines here, HTTP there.
 *
 * @param stores whether what is found in this process is stored for the next time; a service decides that by itself
 */
export async function openService(
  input: Pick<CommandInput, "values" | "host" | "signal">,
  { stores }: { readonly stores: boolean },
): Promise<Answering> {
  const address = remoteAddressOf(input);
  if (address === undefined) {
    const { answerLocally } = await import("./answer-locally.ts");
    return answerLocally(input, stores);
  }
  const { openRemote } = await import("./open-remote.ts");
  const remote = openRemote(address);
  return {
    transport: remote.transport,
    // Its rules are the service's own.
    check: readSendable,
    // The service has looked for one.
    suggest: async (error) => error,
    async [Symbol.asyncDispose]() {
      remote[Symbol.dispose]();
    },
  };
}
