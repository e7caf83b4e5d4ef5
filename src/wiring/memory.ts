import { totalmem } from "node:os";

/**
 * Returns the container's memory limit for this process and its children, in bytes. Undefined if there is none below the memory
 * of the machine.
 */
export function memoryLimit(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : undefined;
}

/** Returns the memory for this process and its children, in bytes. */
export function memoryBytes(): number {
  return memoryLimit() ?? totalmem();
}
