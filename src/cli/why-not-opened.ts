import { getSystemErrorMessage } from "node:util";

/** Removes the error code and the system call, which Node adds to the message. */
export function whyNotOpened(error: Error): string {
  return "errno" in error && typeof error.errno === "number"
    ? getSystemErrorMessage(error.errno)
    : error.message;
}
