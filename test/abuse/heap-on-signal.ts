import { writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * `node --import` loads this file before the service. On SIGUSR2, the service collects garbage and writes the size of its heap
 * to the file `LIVE_BYTES_FILE`.
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
