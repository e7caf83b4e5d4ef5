import { writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * This file is loaded into a service with `node --import`. On SIGUSR2 it runs a garbage collection and writes the used bytes to
 * the file `LIVE_BYTES_FILE`.
 */
setFlagsFromString("--expose-gc");
// V8 would discard bytecode of unused functions and compile it again. The measured size would vary.
setFlagsFromString("--no-flush-bytecode");
const collect = runInNewContext("gc") as () => void;
process.on("SIGUSR2", () => {
  // The second collection frees objects that a finalizer has released during the first collection.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(process.env.LIVE_BYTES_FILE ?? "/dev/null", String(heapUsed + external));
});
