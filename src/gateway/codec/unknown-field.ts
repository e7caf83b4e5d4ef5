import type { Fault } from "../../errors/errors.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { echo } from "../../text/plain-text.ts";

/** The fault of a key that no field has, relative to the object that it stands in; with the field that was meant, if that can be guessed. */
export function unknownFieldFault(key: string, names: readonly string[]): Fault {
  const meant = nearestName(key, names);
  const known = names.length > 0 ? `: the fields are ${names.map((name) => `\`${name}\``).join(", ")}.` : ".";
  const hint = meant === undefined ? known : `: did you mean \`${meant}\`?`;
  return { pointer: "", code: "unknown_field", message: `There is no field \`${echo(key)}\` here${hint}` };
}
