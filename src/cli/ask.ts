import type { AskedService, AskOptions } from "./asked-service.ts";
import type { CommandInput } from "./command.ts";
import { remoteAddressOf } from "./remote-address.ts";

/**
 * Opens a Connect transport to this process or, with `--url`, to a running service. Only the modules of the one that is asked are loaded:
 * engines here, HTTP there.
 *
 * @throws UsageError if `--url` is no address
 */
export async function ask(
  input: Pick<CommandInput, "values" | "host" | "signal">,
  options: AskOptions = {},
): Promise<AskedService> {
  const address = remoteAddressOf(input);
  return address
    ? (await import("./ask-there.ts")).askThere(address)
    : (await import("./ask-here.ts")).askHere(input, options);
}
