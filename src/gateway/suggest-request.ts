import type { Fault } from "../errors.ts";
import { holdsKey } from "../plain-text.ts";
import { keysOfPointer } from "./json-pointer.ts";

type Plain = Record<string, unknown>;

/** The faults of values that can be moved into their bounds. */
const codes: readonly Fault["code"][] = ["out_of_range", "over_plan_limit"];

/**
 * The request with each number that is out of its range moved to the nearest that is allowed, and each list that
 * is too long cut; nothing unless that mends every fault.
 */
export function suggestRequest(
  sent: Readonly<Record<string, unknown>>,
  faults: readonly Fault[],
): Readonly<Record<string, unknown>> | undefined {
  if (!faults.every((fault) => codes.includes(fault.code) && fault.allowed !== undefined)) {
    return undefined;
  }
  const mended: Plain = structuredClone({ ...sent });
  const isMended = faults.every((fault) => clamp(mended, fault));
  // All that was sent comes back: not where somebody put their key into it.
  return isMended && !holdsKey(JSON.stringify(mended)) ? mended : undefined;
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
  const { minimum, maximum, maxItems } = allowed ?? {};
  if (Array.isArray(value) && typeof maxItems === "number") {
    holder[last] = value.slice(0, maxItems);
    return true;
  }
  if (typeof value !== "number" || typeof minimum !== "number" || typeof maximum !== "number") {
    return false;
  }
  holder[last] = Math.min(Math.max(value, minimum), maximum);
  return true;
}

function isHolder(value: unknown): value is Plain {
  return typeof value === "object" && value !== null;
}
