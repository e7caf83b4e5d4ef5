import type { CommandInput } from "./command.ts";
import { remoteAddressOf } from "./remote-address.ts";
import type { Target, TargetOptions } from "./target.ts";

/** Imports the HTTP client only with `--url`, and the service only without `--url`. Throws UsageError if `--url` is invalid. */
export async function ask(
  input: Pick<CommandInput, "values" | "host" | "signal">,
  options: TargetOptions = {},
): Promise<Target> {
  const address = remoteAddressOf(input);
  return address
    ? (await import("./ask-there.ts")).askThere(address)
    : (await import("./ask-here.ts")).askHere(input, options);
}
