/**
 * Freezes plain data with all that it holds: nobody can change what others have, too. Bytes cannot be frozen, and stay
 * as they are. What is frozen already is taken for frozen with all that it holds.
 */
export function freezeWhole<T extends object>(value: T): T {
  if (Object.isFrozen(value)) {
    return value;
  }
  for (const part of Object.values(value)) {
    if (typeof part === "object" && part !== null && !ArrayBuffer.isView(part)) {
      freezeWhole(part);
    }
  }
  return Object.freeze(value);
}
