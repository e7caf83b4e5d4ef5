/**
 * Freezes plain data with all that it holds: nobody can change what others have, too. Bytes cannot be frozen, and stay
 * as they are.
 */
export function freezeWhole<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === "object" && part !== null && !Object.isFrozen(part) && !ArrayBuffer.isView(part)) {
      freezeWhole(part);
    }
  }
  return Object.freeze(value);
}
