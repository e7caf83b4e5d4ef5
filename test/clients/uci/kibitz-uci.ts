import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../../bin/kibitz.js", import.meta.url));

/** The command that a chess program is given for `kibitz uci`. */
export const kibitzUci = (...args: readonly string[]) => [process.execPath, program, "uci", ...args];
