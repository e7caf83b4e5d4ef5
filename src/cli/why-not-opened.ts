import { getSystemErrorMessage } from "node:util";

/** Why a file could not be read or written, without the code and the call that Node puts around it. */
export function whyNotOpened(error: Error): string {
  return "errno" in error && typeof error.errno === "number"
    ? getSystemErrorMessage(error.errno)
    : error.message;
}
