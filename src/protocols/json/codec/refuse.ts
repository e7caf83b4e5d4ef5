import type { ErrorCode } from "../../../errors/catalogue.ts";
import type { Fault } from "../../../errors/errors.ts";
import { pointerStep } from "../../../text/json-pointer.ts";
import { didYouMean, nearestName } from "../../../text/nearest-name.ts";
import { echo, nameOfJson } from "../../../text/plain-text.ts";

/**
 * Notes that a JSON value is at fault: "`depth` must be an integer from 1 to 30, not true.". Gives
 * `undefined`, which is what a message holds for such a value.
 *
 * The pointer is relative to the value, and whoever holds the value puts its own step before it with
 * {@link prefixFaults}: pointers cost nothing as long as all is well.
 */
export function refuse(
  faults: Fault[],
  code: ErrorCode,
  must: string,
  json: unknown,
  allowed?: Fault["allowed"],
): undefined {
  faults.push({
    pointer: "",
    code,
    message: `${must}, not ${nameOfJson(json)}.`,
    ...(allowed && { allowed }),
  });
}

/** JSON can write one half of a surrogate pair, `"\ud800"`; the UTF-8 of protobuf cannot. */
export function refuseHalfPair(faults: Fault[], name: string): undefined {
  faults.push({ pointer: "", code: "invalid_type", message: `${name} contains an unpaired surrogate.` });
}

/** Puts a step before the pointers of the faults that were noted since there were `from`. */
export function prefixFaults(faults: Fault[], from: number, key: string | number): void {
  for (const [index, fault] of faults.entries()) {
    if (index >= from) {
      faults[index] = { ...fault, pointer: pointerStep(key) + fault.pointer };
    }
  }
}

/** The fault of a key that no field has, relative to the object that it stands in; with the field that was meant, if that can be guessed. */
export function unknownFieldFault(key: string, names: readonly string[]): Fault {
  const known = `the fields are ${names.map((name) => `\`${name}\``).join(", ")}.`;
  const hint = names.length > 0 ? `: ${didYouMean(key, names, known)}` : ".";
  const meant = nearestName(key, names);
  const message = `There is no field \`${echo(key)}\` here${hint}`;
  return { pointer: "", code: "unknown_field", message, ...(meant && { meant }) };
}

/** Turns a JSON value into what a message holds for it; `undefined` if it is at fault. */
export type ReadValue = (json: unknown, faults: Fault[]) => unknown;
