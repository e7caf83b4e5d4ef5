import type { CommandInput } from "./command.ts";
import { remoteAddressOf } from "./remote-address.ts";
import type { Target, TargetOptions } from "./target.ts";

/**
 * Opens a Connect transport to this process or, with `--url`, to a running service. Only the modules of this target are loaded:
 * engines here, HTTP there.
 *
 * @throws UsageError if `--url` is no address
 */
export async function ask(
  input: Pick<CommandInput, "values" | "host" | "signal">,
  options: TargetOptions = {},
): Promise<Target> {
  const address = remoteAddressOf(input);
  return address
    ? (await import("./ask-there.ts")).askThere(address)
    : (await import("./ask-here.ts")).askHere(input, options);
}
