import type { Fault } from "../errors.ts";
import { keysOfPointer } from "./json-pointer.ts";

type Plain = Record<string, unknown>;

/**
 * The request with each number that is out of its range moved to the nearest that is allowed; nothing
 * unless that mends every fault.
 */
export function suggestedRequest(
  sent: Readonly<Record<string, unknown>>,
  faults: readonly Fault[],
): Readonly<Record<string, unknown>> | undefined {
  if (!faults.every((fault) => fault.code === "out_of_range" && fault.allowed !== undefined)) {
    return undefined;
  }
  const mended: Plain = structuredClone({ ...sent });
  return faults.every((fault) => clamp(mended, fault)) ? mended : undefined;
}

function clamp(mended: Plain, { pointer, allowed }: Fault): boolean {
  const keys = keysOfPointer(pointer);
  const last = keys.pop();
  let holder: unknown = mended;
  for (const key of keys) {
    holder = isHolder(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
  }
  if (last === undefined || !isHolder(holder) || !Object.hasOwn(holder, last)) {
    return false;
  }
  const value = holder[last];
  const { minimum, maximum } = allowed ?? {};
  if (typeof value !== "number" || typeof minimum !== "number" || typeof maximum !== "number") {
    return false;
  }
  holder[last] = Math.min(Math.max(value, minimum), maximum);
  return true;
}

function isHolder(value: unknown): value is Plain {
  return typeof value === "object" && value !== null;
}
