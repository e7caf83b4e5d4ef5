import { totalmem } from "node:os";

/** What the kernel lets this process and its children take, in bytes, where that is less than there is: of a container. */
export function memoryLimit(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : undefined;
}

/** The memory that there is for this process and its children, in bytes. */
export function memoryBytes(): number {
  return memoryLimit() ?? totalmem();
}
