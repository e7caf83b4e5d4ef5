import { totalmem } from "node:os";

/** The container's limit for this process and its children, in bytes; undefined if not below the machine's memory. */
export function memoryLimit(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : undefined;
}

export function memoryBytes(): number {
  return memoryLimit() ?? totalmem();
}
