import { errorFromFaults, type Fault } from "../errors/errors.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { echo } from "../text/plain-text.ts";

/**
 * Throws a KibitzError that names all fields which stand in the query of a URL, for calls that read their body
 * alone: without effect, `?depth=5` would be answered at another depth than was asked for.
 */
export function refuseQuery(url: string | undefined): void {
  const start = url?.indexOf("?") ?? -1;
  if (start === -1) {
    return;
  }
  const names = new Set(new URLSearchParams(url?.slice(start + 1)).keys());
  const faults = [...names].map(faultOf);
  if (faults.length > 0) {
    throw errorFromFaults(faults);
  }
}

/** With the place in the body where the field belongs. */
function faultOf(name: string): Fault {
  const pointer = pointerStep(name);
  const message = `This call takes no query parameters, but the URL has \`${echo(name)}\`: put fields in the JSON body instead.`;
  return { pointer, code: "unknown_field", message };
}
