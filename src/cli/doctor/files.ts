import { descriptorsFor } from "../../wiring/descriptors.ts";
import type { Config } from "../../wiring/settings.ts";
import { type Finding, good, note } from "./finding.ts";

export function* checkFiles(config: Config): Iterable<Finding> {
  const { limit, connectionsMax, warning } = descriptorsFor(config);
  const found = `${limit ?? "any number of"} open files, which allow ${connectionsMax} connections`;
  yield warning === undefined
    ? good("open files", found)
    : note("open files", found, `${warning[0]?.toUpperCase()}${warning.slice(1)}.`);
}
