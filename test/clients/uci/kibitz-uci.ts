import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../../bin/kibitz.js", import.meta.url));

export const kibitzUci = (...args: readonly string[]) => [process.execPath, program, "uci", ...args];
