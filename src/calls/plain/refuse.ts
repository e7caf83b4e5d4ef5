import type { ErrorCode } from "../../errors/catalogue.ts";
import type { Fault } from "../../errors/errors.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { didYouMean, nearestName } from "../../text/nearest-name.ts";
import { echo, nameOfJson } from "../../text/plain-text.ts";

/**
 * Reports a wrong JSON value: "`depth` must be an integer from 1 to 30, not true.". Returns undefined, the value of an unset field.
 *
 * The pointer is relative to the value. The reader of the object or list around it adds its own step with {@link prefixFaults}, so
 * that pointers cost nothing if nothing is wrong.
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

/** Reports one half of a surrogate pair: JSON can write `"\ud800"`, the UTF-8 of protobuf cannot. */
export function refuseHalfPair(faults: Fault[], name: string): undefined {
  faults.push({ pointer: "", code: "invalid_type", message: `${name} contains an unpaired surrogate.` });
}

/** Puts a step in front of the pointers of all faults but the first `from`. */
export function prefixFaults(faults: Fault[], from: number, key: string | number): void {
  for (const [index, fault] of faults.entries()) {
    if (index >= from) {
      faults[index] = { ...fault, pointer: pointerStep(key) + fault.pointer };
    }
  }
}

/** The fault of an unknown key, relative to its object, with the field that was probably meant. */
export function unknownFieldFault(key: string, names: readonly string[]): Fault {
  const known = `the fields are ${names.map((name) => `\`${name}\``).join(", ")}.`;
  const hint = names.length > 0 ? `: ${didYouMean(key, names, known)}` : ".";
  const meant = nearestName(key, names);
  const message = `There is no field \`${echo(key)}\` here${hint}`;
  return { pointer: "", code: "unknown_field", message, ...(meant && { meant }) };
}
