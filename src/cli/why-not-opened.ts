import { getSystemErrorMessage } from "node:util";

/** Returns the message of a file error without the error code and the system call that Node adds. */
export function whyNotOpened(error: Error): string {
  return "errno" in error && typeof error.errno === "number"
    ? getSystemErrorMessage(error.errno)
    : error.message;
}
