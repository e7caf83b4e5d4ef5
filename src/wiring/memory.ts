import { totalmem } from "node:os";

/** Returns the memory limit of the container in bytes. Undefined if there is no limit below the memory of the machine. */
export function memoryLimit(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : undefined;
}

export function memoryBytes(): number {
  return memoryLimit() ?? totalmem();
}
