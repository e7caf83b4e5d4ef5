import { getSystemErrorMessage } from "node:util";

/** Explains why a file could not be read or written, without the code and the system call that Node adds. */
export function whyNotOpened(error: Error): string {
  return "errno" in error && typeof error.errno === "number"
    ? getSystemErrorMessage(error.errno)
    : error.message;
}
