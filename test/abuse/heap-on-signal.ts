import { writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Loaded into a service with `node --import`. On SIGUSR2 the service collects all garbage, and writes the size in bytes of its
 * live heap and external memory to the file that `LIVE_BYTES_FILE` names.
 */
setFlagsFromString("--expose-gc");
// Code that was not used for some collections would go, and come back: that is no growth.
setFlagsFromString("--no-flush-bytecode");
const collect = runInNewContext("gc") as () => void;
process.on("SIGUSR2", () => {
  // Twice: what finalizers let go of is garbage only afterwards.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(process.env.LIVE_BYTES_FILE ?? "/dev/null", String(heapUsed + external));
});
